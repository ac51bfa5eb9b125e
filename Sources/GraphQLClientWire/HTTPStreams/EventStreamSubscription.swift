package import MartletHTTPWire
internal import MartletJSON
package import MartletVocabulary

/// GraphQL over server-sent events in distinct mode: one request, one operation, one stream of `next` events that
/// `complete` ends.
package enum EventStreamSubscription {
  /// A message from a server to its client.
  package enum Message: Equatable, Sendable {
    /// An execution result, as its JSON text.
    case next([UInt8])
    case complete
  }

  /// Reads a response body from bytes in any cut. Comments and events of other names are skipped; `complete` is last.
  package struct Reader {
    private var events: EventStreamReader
    private var isOver = false

    /// The reconnection time that the server last asked for, in milliseconds.
    package var retry: Int? { events.retry }

    package init(limits: EventStreamLimits = EventStreamLimits()) {
      events = EventStreamReader(limits: limits)
    }

    /// Takes bytes as they arrived.
    package mutating func receive(_ bytes: [UInt8], messages: inout [Message]) throws(EventStreamFailure) {
      if isOver { return }
      var found: [StreamEvent] = []
      var broken: EventStreamFailure?
      do throws(EventStreamFailure) {
        try events.receive(bytes, events: &found)
      } catch {
        broken = error
      }
      for event in found where !isOver {
        if event.name.utf8.elementsEqual("next".utf8) {
          messages.append(.next(Self.result(event.data)))
        } else if event.name.utf8.elementsEqual("complete".utf8) {
          messages.append(.complete)
          isOver = true
        }
      }
      if let broken, !isOver { throw broken }
    }

    /// The result in an event's data. Some servers wrap it, as multipart subscriptions do.
    private static func result(_ data: [UInt8]) -> [UInt8] {
      guard data.starts(with: wrapping), let root = try? JSONTape(data, limits: .held(data)).root,
        root["data"] == nil, root["errors"] == nil, let payload = root["payload"], payload.kind == .object
      else { return data }
      return [UInt8](payload.rawBytes)
    }

    /// What such data begins with; others are not looked into.
    private static let wrapping = Array("{\"payload\"".utf8)

    /// The response has ended. Without `complete` that is a failure.
    package mutating func inputEnded() throws(EventStreamFailure) {
      if !isOver { throw .truncated }
    }
  }

  /// What a server writes.
  package enum Writing {
    package static let contentType = "text/event-stream"
    /// A comment, so that clients and proxies see the head of the response at once.
    package static let opening = Array(":\n\n".utf8)
    /// Stands before the result of an event, which is JSON without line ends.
    package static let eventPrefix = Array("event: next\ndata: ".utf8)
    package static let eventSuffix = Array("\n\n".utf8)
    package static let heartbeat = Array(":\n\n".utf8)
    /// Stands before an event: what the client names as the last it has seen when it asks again.
    package static func identifier(_ cursor: Cursor) -> [UInt8] { Array("id: \(cursor)\n".utf8) }
    /// Browsers drop an event that has no data line.
    package static let end = Array("event: complete\ndata:\n\n".utf8)
  }
}
