package import MartletHTTPWire
internal import MartletJSON

/// GraphQL over server-sent events in single connection mode, as the client reads it: one stream, whose events name
/// their operation.
package enum SharedEventStream {
  /// The header that carries a stream's token; the query parameter is `token`.
  package static let tokenHeader: StaticString = "X-GraphQL-Event-Stream-Token"

  /// A message from a server to its client.
  package enum Message: Equatable, Sendable {
    /// A result of operation `id`, as its JSON text.
    case next(id: String, [UInt8])
    case complete(id: String)
    /// A `next` or `complete` that cannot be read; nothing says which operation it is about.
    case malformed(String)
  }

  /// Reads the body of a stream from bytes in any cut. Comments and events of other names are skipped.
  package struct Reader {
    private var events: EventStreamReader

    /// The reconnection time that the server last asked for, in milliseconds.
    package var retry: Int? { events.retry }

    package init(limits: EventStreamLimits = EventStreamLimits()) {
      events = EventStreamReader(limits: limits)
    }

    /// Takes bytes as they arrived. Messages before a failure are appended.
    package mutating func receive(_ bytes: [UInt8], messages: inout [Message]) throws(EventStreamFailure) {
      var found: [StreamEvent] = []
      var broken: EventStreamFailure?
      do throws(EventStreamFailure) {
        try events.receive(bytes, events: &found)
      } catch {
        broken = error
      }
      for event in found {
        if let message = Self.message(event) { messages.append(message) }
      }
      if let broken { throw broken }
    }

    private static func message(_ event: StreamEvent) -> Message? {
      let isNext = event.name.utf8.elementsEqual("next".utf8)
      guard isNext || event.name.utf8.elementsEqual("complete".utf8) else { return nil }
      guard let data = try? JSONTape(event.data, limits: .held(event.data)).root, let id = data["id"]?.string else {
        return .malformed("an event without the id of its operation")
      }
      guard isNext else { return .complete(id: id) }
      guard let payload = data["payload"], payload.kind == .object else {
        return .malformed("an event whose payload is not an object")
      }
      return .next(id: id, [UInt8](payload.rawBytes))
    }
  }
}
