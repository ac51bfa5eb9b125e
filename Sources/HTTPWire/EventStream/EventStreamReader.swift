/// One event of an event stream.
package struct StreamEvent: Equatable, Sendable {
  /// The event's name; empty where it has none, which means `message`.
  package var name: String
  /// Its data lines, joined with LF.
  package var data: [UInt8]
  /// The last identifier that the stream gave, itself part of the event or of an earlier one.
  package var id: String

  package init(name: String = "", data: [UInt8] = [], id: String = "") {
    self.name = name
    self.data = data
    self.id = id
  }
}

/// Bounds of one event stream that is read.
package struct EventStreamLimits: Sendable {
  /// Longest line, and longest data of one event. As long as the longest WebSocket message of a server.
  package var eventBytes = 1_048_576

  package init() {}
}

/// A limit of ours that an event stream broke; its grammar has no malformed input.
package enum EventStreamFailure: Error, Equatable, Sendable, CustomStringConvertible {
  /// A line or the data of one event is longer than allowed.
  case eventTooLarge(limit: Int)
  /// The stream ended without saying that it is complete.
  case truncated

  package var description: String {
    switch self {
    case .eventTooLarge(let limit): "an event of the stream is larger than \(limit) bytes"
    case .truncated: "the event stream ended before it was complete"
    }
  }
}

/// Reads an event stream (the HTML standard, section 9.2.6) from bytes in any cut: lines end in LF, CR or CRLF, a blank
/// line dispatches, an event cut off by the end is discarded.
///
/// An event without a data line is handed over too where it has a name: `complete` needs no data. Browsers drop it.
package struct EventStreamReader {
  package let limits: EventStreamLimits
  /// The reconnection time that the server last asked for, in milliseconds.
  package private(set) var retry: Int?
  private var line: [UInt8] = []
  private var name: [UInt8] = []
  private var data: [UInt8] = []
  private var hasData = false
  private var id = ""
  /// A CR has ended a line; an LF right after it belongs to it.
  private var skipsLineFeed = false
  private var isFirstLine = true
  private var failure: EventStreamFailure?

  package init(limits: EventStreamLimits = EventStreamLimits()) {
    self.limits = limits
  }

  /// Takes bytes as they arrived and appends the events they complete.
  package mutating func receive(_ bytes: [UInt8], events: inout [StreamEvent]) throws(EventStreamFailure) {
    if let failure { throw failure }
    var start = 0
    for index in bytes.indices {
      let byte = bytes[index]
      guard byte == 0x0A || byte == 0x0D else {
        skipsLineFeed = false
        continue
      }
      if byte == 0x0A, skipsLineFeed {
        skipsLineFeed = false
        start = index + 1
        continue
      }
      skipsLineFeed = byte == 0x0D
      try take(bytes[start..<index])
      start = index + 1
      try endLine(&events)
    }
    try take(bytes[start...])
  }

  private mutating func take(_ piece: ArraySlice<UInt8>) throws(EventStreamFailure) {
    line.append(contentsOf: piece)
    // The longest field name and its colon stand before the data.
    if line.count > limits.eventBytes + 8 { throw fail() }
  }

  private mutating func fail() -> EventStreamFailure {
    let found = EventStreamFailure.eventTooLarge(limit: limits.eventBytes)
    failure = found
    line = []
    data = []
    return found
  }

  private mutating func endLine(_ events: inout [StreamEvent]) throws(EventStreamFailure) {
    defer { line.removeAll(keepingCapacity: line.count < 4_096) }
    if isFirstLine {
      isFirstLine = false
      if line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
    }
    if line.isEmpty { return dispatch(&events) }
    let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.count
    // A comment.
    if colon == 0 { return }
    var value = line.dropFirst(colon + 1)
    if value.first == 0x20 { value = value.dropFirst() }
    let field = line[..<colon]
    if field.elementsEqual("data".utf8) {
      if hasData { data.append(0x0A) }
      hasData = true
      data.append(contentsOf: value)
      if data.count > limits.eventBytes { throw fail() }
    } else if field.elementsEqual("event".utf8) {
      name = [UInt8](value)
    } else if field.elementsEqual("id".utf8) {
      if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
    } else if field.elementsEqual("retry".utf8) {
      retry = HTTPSyntax.decimal(value) ?? retry
    }
  }

  private mutating func dispatch(_ events: inout [StreamEvent]) {
    if hasData || !name.isEmpty {
      events.append(StreamEvent(name: String(decoding: name, as: UTF8.self), data: data, id: id))
    }
    name = []
    data = []
    hasData = false
  }
}
