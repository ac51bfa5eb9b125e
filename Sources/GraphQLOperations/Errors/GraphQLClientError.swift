public import MartletJSON
public import MartletVocabulary

/// Why an operation of the client failed. Errors that a server put into a result are part of the result, not this.
public struct GraphQLClientError: Error, Sendable, CustomStringConvertible {
  /// What kind of failure it was. New kinds may be added.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Kind: String {
      case invalidRequest, connectFailed, connectionClosed, connectionLost, outcomeUnknown, unauthorized
      case protocolViolation, operationFailed, httpStatus, invalidResponse, decodingFailed, slowConsumer, shutDown
      case timeout, responseTooLarge, overloaded, protocolMismatch, streamInUse, unreadableFile
    }
    private let kind: Kind
    private init(_ kind: Kind) { self.kind = kind }

    /// The request cannot be sent: a URL of another scheme, or an id in use.
    public static let invalidRequest = Code(.invalidRequest)
    /// No connection came about in as many attempts as the configuration allows. The message is the last cause; where
    /// it had one, `status` is its HTTP status, `closeCode` its close code, and `underlying` what the credential
    /// provider threw.
    public static let connectFailed = Code(.connectFailed)
    /// The server closed with a code after which another attempt would end the same way; see `closeCode`.
    public static let connectionClosed = Code(.connectionClosed)
    /// The connection was lost while a query was on its way. It may be sent again.
    public static let connectionLost = Code(.connectionLost)
    /// The answer to a mutation was lost: it may have been executed or not. The connection was lost, the time was up,
    /// or a proxy answered 502 or 504 in the server's place; then `status` has it.
    public static let outcomeUnknown = Code(.outcomeUnknown)
    /// The server refuses the credentials, also fresh ones.
    public static let unauthorized = Code(.unauthorized)
    /// The server broke a rule of the protocol.
    public static let protocolViolation = Code(.protocolViolation)
    /// The server speaks another protocol over the WebSocket than `ConnectionConfiguration.dialect`; the message names
    /// both.
    public static let protocolMismatch = Code(.protocolMismatch)
    /// The server ended this operation with errors; see `errors`.
    public static let operationFailed = Code(.operationFailed)
    /// The server answered with an HTTP status instead of a GraphQL response, or instead of opening the WebSocket; see
    /// `status`. Another attempt would be answered in the same way.
    public static let httpStatus = Code(.httpStatus)
    /// The answer is not GraphQL response.
    public static let invalidResponse = Code(.invalidResponse)
    /// The result does not have the shape that was asked for.
    public static let decodingFailed = Code(.decodingFailed)
    /// The consumer was too slow, and its policy is to fail.
    public static let slowConsumer = Code(.slowConsumer)
    /// The client was shut down.
    public static let shutDown = Code(.shutDown)
    /// No answer came in the time the configuration gives, and a query's answer is all that is missing.
    public static let timeout = Code(.timeout)
    /// The answer is longer than the configuration allows; a mutation has been executed all the same.
    public static let responseTooLarge = Code(.responseTooLarge)
    /// Too many requests of this client wait already, or all its sockets are full.
    public static let overloaded = Code(.overloaded)

    /// A second iterator asked for the events of a subscription, which are the first one's.
    public static let streamInUse = Code(.streamInUse)

    /// A file that was to be sent cannot be read, or not as far as it was long; the message names it. The operation has
    /// not been executed.
    public static let unreadableFile = Code(.unreadableFile)

    /// The code's name.
    public var description: String { kind.rawValue }
  }

  /// What kind of failure it was.
  public var code: Code
  /// What happened, in words.
  public var message: String
  /// What caused it.
  public var underlying: (any Error)?
  /// The WebSocket's close code, when there was one.
  public var closeCode: Int?
  /// The HTTP status, when there was one.
  public var status: Int?
  /// How long the server asked to wait before another attempt, when it did.
  public var retryAfter: Duration?
  /// The errors as the server sent them, each usually an object with `message`.
  public var errors: [JSONValue]
  /// The cursor up to which a finished subscription has seen everything, if the server gave cursors: a new one
  /// with `from: .after(cursor)` continues after it.
  public var cursor: Cursor?

  /// An error with the given parts.
  public init(
    _ code: Code, _ message: String, underlying: (any Error)? = nil, closeCode: Int? = nil, status: Int? = nil,
    errors: [JSONValue] = []
  ) {
    self.code = code
    self.message = message
    self.underlying = underlying
    self.closeCode = closeCode
    self.status = status
    self.errors = errors
  }

  /// Code, message, close code or HTTP status, and what caused it, in one line.
  public var description: String {
    var text = "\(code): \(message)"
    if let closeCode { text += " (close code \(closeCode))" }
    if let status, !message.contains("\(status)") { text += " (HTTP status \(status))" }
    if let underlying { text += "; caused by: \(underlying)" }
    return text
  }

  /// What the caller can do about it; nil when nothing general can be said.
  public var recoverySuggestion: String? {
    if code == .outcomeUnknown {
      "Read the data before you send the mutation again, or let it carry a write number."
    } else if code == .unauthorized {
      "Ask the user to sign in again; the credential provider's fresh answer was refused too."
    } else if code == .connectFailed {
      "Check address and network; raise the attempts of the reconnect policy when outages last longer."
    } else if code == .connectionLost || code == .timeout {
      "Send the query again."
    } else if code == .protocolMismatch {
      "Set the configuration's dialect to the protocol the server speaks."
    } else if code == .streamInUse {
      "Iterate once, and hand the events on; or make a publisher of the stream."
    } else if code == .slowConsumer {
      "Consume faster, or choose a buffer policy that waits or drops with a gap."
    } else {
      nil
    }
  }
}
