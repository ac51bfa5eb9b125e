internal import MartletLoop
internal import MartletRuntime
internal import MartletVocabulary
internal import MartletWire

/// Structured logging: constant messages, values in metadata, nothing secret.
///
/// Metadata never holds headers, payloads or variables, so that a token cannot reach it; keys are a closed set for the
/// same reason.
///
/// Writing an entry never waits and never fails. Entries go through a bounded queue to a thread of the log's own, which
/// calls the sink. When the sink is slower than the server, entries are dropped and a later entry says how many. Of
/// entries that repeat each other only the first few in a minute are written, and one that counts the others.
///
/// ```swift
/// configuration.log = .standardError(.jsonLines, level: .warning)
/// configuration.log = Log { entry in print(entry.level, entry.message) }
/// ```
public struct Log: Sendable {
  /// How much an entry matters.
  public enum Level: Int, Sendable, Comparable, CaseIterable {
    /// For the developer of the server.
    case debug
    /// What an operator may want to see once.
    case info
    /// A client was refused, or something was retried.
    case warning
    /// Something failed that should not.
    case error

    /// Orders by severity.
    public static func < (left: Level, right: Level) -> Bool {
      left.rawValue < right.rawValue
    }
  }

  /// What a value in an entry means.
  public struct Key: Sendable, Hashable {
    /// The key's name, as sinks write it.
    public let rawValue: String

    private init(_ rawValue: String) {
      self.rawValue = rawValue
    }

    /// The address the server is bound to.
    public static let address = Key("address")
    /// A client's address.
    public static let client = Key("client")
    /// A connection's number in this process.
    public static let connection = Key("connection")
    /// How many.
    public static let count = Key("count")
    /// A field of the schema, such as `Query.forecast`.
    public static let field = Key("field")
    /// An issuer of tokens.
    public static let issuer = Key("issuer")
    /// An offset in the change log.
    public static let offset = Key("offset")
    /// An operation's name.
    public static let operation = Key("operation")
    /// A place in a response, such as `forecast.days.0`.
    public static let path = Key("path")
    /// The port the server is bound to.
    public static let port = Key("port")
    /// What a client speaks.
    public static let `protocol` = Key("protocol")
    /// How a caller proved its identity.
    public static let provider = Key("provider")
    /// Why, in words.
    public static let reason = Key("reason")
    /// How many further entries like this one have been left out since the last one that was written.
    public static let repeated = Key("repeated")
    /// A rule of the schema, or a limit, by its name.
    public static let rule = Key("rule")
    /// An HTTP status.
    public static let status = Key("status")
    /// A subscription of a webhook or a device, by its id.
    public static let subscription = Key("subscription")
    /// A caller's name with its provider.
    public static let subject = Key("subject")
    /// The change log's term, with which cursors begin.
    public static let term = Key("term")
  }

  /// One entry.
  public struct Entry: Sendable {
    /// When it was written, in milliseconds since 1970, in UTC.
    public let milliseconds: Int64
    /// How much it matters.
    public let level: Level
    /// A constant sentence.
    public let message: String
    /// Its values, in order of relevance.
    public let metadata: [(key: Key, value: String)]
  }

  private enum Delivery: Sendable {
    case none
    case direct(@Sendable (Entry) -> Void)
    case queued(LogWriter)
  }

  private let level: Level
  private let delivery: Delivery

  private init(_ level: Level, _ delivery: Delivery) {
    self.level = level
    self.delivery = delivery
  }

  /// A log that hands entries of `level` and above to `sink`, one at a time, on a thread of its own.
  ///
  /// The bounds of its queue are `ServerLimits.log` of the server that writes it.
  public init(level: Level = .info, sink: @escaping @Sendable (Entry) -> Void) {
    let writer = LogWriter(LogLimits()) { entry in
      sink(entry)
      return true
    }
    self.init(level, .queued(writer))
  }

  /// A log that calls `sink` on the thread that writes, for tests. Nothing is dropped or left out.
  package init(direct sink: @escaping @Sendable (Entry) -> Void) {
    self.init(.debug, .direct(sink))
  }

  package init(level: Level, writer: LogWriter) {
    self.init(level, .queued(writer))
  }

  /// Sets the bounds of the log from now on.
  package func adopt(_ limits: LogLimits) {
    if case .queued(let writer) = delivery { writer.adopt(limits) }
  }

  /// A log that keeps nothing.
  public static let silent = Log(.error, .none)

  /// Writes an entry; the metadata is built only when the level is enabled.
  package func write(
    _ level: Level, _ message: StaticString, _ metadata: @autoclosure () -> [(key: Key, value: String)] = []
  ) {
    guard level >= self.level else { return }
    let entry = Entry(
      milliseconds: WallClock.milliseconds(), level: level, message: "\(message)", metadata: metadata())
    switch delivery {
    case .none: break
    case .direct(let sink): sink(entry.cut(LogLimits().valueBytes))
    case .queued(let writer): writer.add(entry, now: MonotonicClock.now())
    }
  }

  /// Reports from now on in `other` that entries of this log cannot be written.
  package func reportLosses(to other: Log) {
    guard case .queued(let writer) = delivery else { return }
    // One log for both would report the loss of its reports.
    if case .queued(let others) = other.delivery, others === writer { return }
    writer.onLoss { other.write(.error, "An entry of the audit log is lost: the log cannot be written.") }
  }

  /// Blocks the calling thread until every entry so far has been given to the sink, at most as long as the limits'
  /// `flushTime`. Returns false when that was not enough.
  @discardableResult
  package func flush() -> Bool {
    guard case .queued(let writer) = delivery else { return true }
    return writer.flush()
  }

  /// Suspends until every entry so far has been given to the sink, at most as long as the limits' `flushTime`.
  package func flushed() async {
    guard case .queued(let writer) = delivery else { return }
    await withCheckedContinuation { continuation in
      let started = LoopThread.start(name: "martlet-flush") {
        _ = writer.flush()
        continuation.resume()
      }
      if !started { continuation.resume() }
    }
  }
}

/// The bounds of a log, as `ServerLimits.log` sets them and gives their reasons.
package struct LogLimits: Sendable {
  package var queuedEntries = 1_024
  package var repeats = 5
  package var repeatInterval = Duration.seconds(60)
  package var kinds = 256
  package var valueBytes = 1_000
  package var flushTime = Duration.milliseconds(500)

  /// The defaults.
  package init() {}
}

extension Log.Entry {
  /// The entry with at most `bytes` bytes of each value.
  func cut(_ bytes: Int) -> Log.Entry {
    guard metadata.contains(where: { $0.value.utf8.count > bytes }) else { return self }
    let values = metadata.map { key, value in
      value.utf8.count <= bytes
        ? (key: key, value: value)
        : (key: key, value: String(decoding: truncatedUTF8(value, to: bytes), as: UTF8.self) + "…")
    }
    return Log.Entry(milliseconds: milliseconds, level: level, message: message, metadata: values)
  }
}
