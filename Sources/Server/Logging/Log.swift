/// Structured logging: constant messages, values in metadata, nothing secret.
///
/// The server calls `write` from any thread. Metadata never holds headers, payloads or variables, so a token cannot
/// reach it; keys are a closed enum for the same reason.
public struct Log: Sendable {
  /// How much an entry matters.
  public enum Level: Int, Sendable, Comparable, CaseIterable {
    /// For the developer of the server.
    case debug
    /// What an operator may want to see once.
    case info
    /// Somebody was refused, or something was retried.
    case warning
    /// Something failed that should not.
    case error

    /// Orders by severity.
    public static func < (left: Level, right: Level) -> Bool {
      left.rawValue < right.rawValue
    }
  }

  /// What a value in an entry means.
  public enum Key: String, Sendable {
    /// The address listened on.
    case address
    /// A number of bytes.
    case bytes
    /// A close code, or an error's code.
    case code
    /// A connection's number in this process.
    case connection
    /// How many.
    case count
    /// How long, in words.
    case duration
    /// A file's path.
    case file
    /// A model's name.
    case model
    /// A place in the change log.
    case offset
    /// An operation's name or field.
    case operation
    /// The address of who is connected.
    case peer
    /// The port listened on.
    case port
    /// Why, in words.
    case reason
    /// An HTTP status.
    case status
    /// The change log's term, with which cursors begin.
    case term
    /// A version of schema or format.
    case version
  }

  /// One entry.
  public struct Entry: Sendable {
    /// How much it matters.
    public let level: Level
    /// A constant sentence.
    public let message: String
    /// Its values, in order of relevance.
    public let metadata: [(key: Key, value: String)]
  }

  private let level: Level
  private let sink: @Sendable (Entry) -> Void

  /// A log that hands entries of `level` and above to `sink`. The sink may be called from several threads at once.
  public init(level: Level = .info, sink: @escaping @Sendable (Entry) -> Void) {
    self.level = level
    self.sink = sink
  }

  /// A log that keeps nothing.
  public static let silent = Log(level: .error) { _ in }

  /// Writes an entry; the metadata is built only when the level is enabled.
  package func write(
    _ level: Level, _ message: StaticString, _ metadata: @autoclosure () -> [(key: Key, value: String)] = []
  ) {
    guard level >= self.level else { return }
    sink(Entry(level: level, message: "\(message)", metadata: metadata()))
  }
}
