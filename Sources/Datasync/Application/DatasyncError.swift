internal import MartletJSONTree

/// Why something of the synced tree could not be done.
public struct DatasyncError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of failure it was; further ones may be added.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name.
    public let description: String

    /// The application has no server: `Martlet.configure(datasync:)` was not called, or its URL cannot be one.
    public static let notConfigured = Code(description: "notConfigured")
    /// `Martlet.configure(datasync:)` was called before.
    public static let alreadyConfigured = Code(description: "alreadyConfigured")
    /// A path, a value, a window or an event type that is not accepted. Nothing was sent.
    public static let invalid = Code(description: "invalid")
    /// The rules refuse the read or the write; the message names the path and the rule.
    public static let denied = Code(description: "denied")
    /// The server's value is another one than the write expected.
    public static let stale = Code(description: "stale")
    /// The server refuses it for another reason, such as a size.
    public static let refused = Code(description: "refused")
    /// The server was not reached, and the value is not known here.
    public static let unknownValue = Code(description: "unknownValue")
    /// The write was dropped from the queue.
    public static let purged = Code(description: "purged")
    /// The function of a transaction returned no value.
    public static let aborted = Code(description: "aborted")
    /// The value was asked of an event that carries none.
    public static let withoutData = Code(description: "withoutData")
    /// The subscription was revoked.
    public static let revoked = Code(description: "revoked")
    /// The queue of writes is full.
    public static let overloaded = Code(description: "overloaded")
    /// Whether the write was made can no longer be known.
    public static let outcomeUnknown = Code(description: "outcomeUnknown")
    /// The service was shut down.
    public static let shutDown = Code(description: "shutDown")
    /// A request beside the connection did not reach the server, or the server cannot answer it now.
    public static let unavailable = Code(description: "unavailable")
    /// The cache's file cannot be used.
    public static let storage = Code(description: "storage")
  }

  /// What kind of failure it was.
  public let code: Code
  /// What happened, and at which path.
  public let message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The code and the message.
  public var description: String { "\(code): \(message)" }
  /// The message.
  public var errorDescription: String { message }

  init(_ error: TreeError) { self.init(.invalid, error.description) }

  /// A refusal in the protocol's words.
  init(status: String, reason: String) {
    let code: Code =
      switch status {
      case "permission_denied": .denied
      case "datastale": .stale
      case "invalid_data", "invalid_path", "invalid_action": .invalid
      case "outcome_forgotten": .outcomeUnknown
      default: .refused
      }
    self.init(code, status == reason ? status : "\(status): \(reason)")
  }
}
