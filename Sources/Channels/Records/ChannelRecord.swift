internal import MartletJSON
package import MartletJSONTree

/// What of a channel outlives the process: its position in the log, the attempts for the next event, and dead letters.
///
/// It is kept as JSON text in one entry of the log.
package struct ChannelRecord: Sendable, Equatable {
  /// The run of the server that wrote `offset`.
  package var term: UInt64 = 0
  package var offset: Int64
  package var settledNumber = 0
  package var attempts = 0
  package var retryTime: Int64?
  package var deadLetters: [UndeliveredEvent] = []
  package var redeliveries: [String] = []
  package var keys: Set<TreeKey>?

  private static let version: Int64 = 1

  package init(
    offset: Int64, settledNumber: Int = 0, attempts: Int = 0, retryTime: Int64? = nil,
    deadLetters: [UndeliveredEvent] = [],
    redeliveries: [String] = [], keys: Set<TreeKey>? = nil
  ) {
    self.offset = offset
    self.settledNumber = settledNumber
    self.attempts = attempts
    self.retryTime = retryTime
    self.deadLetters = deadLetters
    self.redeliveries = redeliveries
    self.keys = keys
  }

  /// The record's bytes. Equal records have equal bytes.
  package var bytes: [UInt8] {
    var json: JSONObject = [
      "version": .int(Self.version), "term": .string(String(term, radix: 16)), "offset": .int(offset),
    ]
    if settledNumber > 0 { json["settled"] = .int(Int64(settledNumber)) }
    if attempts > 0 { json["attempts"] = .int(Int64(attempts)) }
    if let retryTime { json["retry"] = .int(retryTime) }
    if !deadLetters.isEmpty { json["dead"] = .array(deadLetters.map(\.json)) }
    if !redeliveries.isEmpty { json["redeliver"] = .array(redeliveries.map { .string($0) }) }
    if let keys { json["keys"] = .array(keys.sorted().map { .string($0.text) }) }
    return JSONValue.object(json).serialized()
  }

  /// Reads a record.
  ///
  /// - Throws: `ChannelError` (`record`) for bytes that are not one.
  package init(_ bytes: [UInt8]) throws(ChannelError) {
    let json: JSONValue
    do { json = try JSONValue(parsing: bytes) } catch {
      throw ChannelError(.record, "the record is not JSON: \(error)")
    }
    guard json["version"]?.int == Self.version else {
      throw ChannelError(.record, "the record has another version than \(Self.version)")
    }
    guard let term = json["term"]?.string.flatMap({ UInt64($0, radix: 16) }), let offset = json["offset"]?.int,
      offset >= 0
    else { throw ChannelError(.record, "the record has no position") }
    self.init(offset: offset)
    self.term = term
    settledNumber = Self.count(json["settled"])
    attempts = Self.count(json["attempts"])
    retryTime = json["retry"]?.int
    for letter in json["dead"]?.array ?? [] { deadLetters.append(try UndeliveredEvent(letter)) }
    redeliveries = (json["redeliver"]?.array ?? []).compactMap(\.string)
    keys = json["keys"]?.array.map { Set($0.compactMap(\.string).map { TreeKey(unchecked: $0) }) }
  }

  private static func count(_ json: JSONValue?) -> Int { Int(clamping: max(0, json?.int ?? 0)) }
}

extension UndeliveredEvent {
  fileprivate var json: JSONValue {
    [
      "id": .string(event.id), "number": .int(Int64(event.number)),
      "body": .string(String(decoding: event.body, as: UTF8.self)), "reason": .string(reason),
      "attempts": .int(Int64(attempts)), "time": .int(time),
    ]
  }

  fileprivate init(_ json: JSONValue) throws(ChannelError) {
    guard let id = json["id"]?.string, let body = json["body"]?.string else {
      throw ChannelError(.record, "a dead letter of the record has no id or no body")
    }
    self.init(
      event: ChannelEvent(id: id, number: Int(clamping: json["number"]?.int ?? 0), body: Array(body.utf8)),
      reason: json["reason"]?.string ?? "", attempts: Int(clamping: json["attempts"]?.int ?? 0),
      time: json["time"]?.int ?? 0)
  }
}

/// When a channel's record is written: at most once an interval, rarer when it is large, and rarely when nothing but
/// the position has changed without a delivery.
package struct RecordPace: Sendable {
  /// Milliseconds between two records.
  package var interval: Int64 = 1_000
  /// Bytes for which one interval is waited; a record of several times as many waits as many times.
  package var bytesPerInterval = 65_536
  /// Milliseconds until a position that moved without a delivery is written, so that it stays within retention.
  package var idleInterval: Int64 = 60_000

  private var lastTime: Int64?
  private var lastBytes = 0
  private var isDue = false
  private var hasMoved = false
  /// Whether a record is being written.
  private var isWriting = false

  package init() {}

  /// A delivery was settled.
  package mutating func settled() { isDue = true }
  /// The position has moved past changes that do not concern the channel.
  package mutating func moved() { hasMoved = true }

  /// When the record has to be written; nil when nothing is new, or while one is being written.
  package func time(at now: Int64) -> Int64? {
    guard !isWriting, isDue || hasMoved else { return nil }
    guard let lastTime, lastTime <= now else { return now }
    let intervals = Int64(1 + lastBytes / bytesPerInterval)
    return lastTime + (isDue ? interval * intervals : max(idleInterval, interval * intervals))
  }

  /// A record is being written.
  package mutating func began(at now: Int64, bytes: Int) {
    lastTime = now
    lastBytes = bytes
    isDue = false
    hasMoved = false
    isWriting = true
  }

  /// It was written, or failed, after which another one is due.
  package mutating func ended(_ succeeded: Bool) {
    isWriting = false
    if !succeeded { isDue = true }
  }
}
