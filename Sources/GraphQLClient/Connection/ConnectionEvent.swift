public import MartletJSON
internal import MartletRuntime

/// A step in the life of a client's WebSocket, or of the event streams of its subscriptions; with more subscriptions
/// than one carries, of each of them.
public enum ConnectionEvent: Sendable, Hashable {
  /// A connection stands for the first time: the server has acknowledged, with this payload if it sent one.
  case connected(payload: JSONObject?)
  /// A connection that was lost stands again.
  case reconnected(payload: JSONObject?)
  /// A connection is over. The code is the WebSocket's, 1006 for a WebSocket or a stream that was cut; nil for an
  /// attempt that led to none.
  case disconnected(code: Int?, reason: String)
  /// The server asked for life, and was answered.
  case ping(payload: JSONObject?)
  /// The server answered a ping of this client.
  case pong(payload: JSONObject?)
}

/// A transport that reports the life of its connections.
package protocol ConnectionReporting {
  /// The life from now on.
  var connectionEvents: AsyncStream<ConnectionEvent> { get }
}

/// Delivers connection events to every listener.
package final class ConnectionEvents: Sendable {
  /// Events that wait for one slow listener; older ones are dropped first.
  package static let waiting = 256

  private struct Listeners {
    var continuations: [Int: AsyncStream<ConnectionEvent>.Continuation] = [:]
    var last = 0
    var isOver = false
  }
  private let listeners = Lock(Listeners())

  package init() {}

  /// The events from now on.
  package func stream() -> AsyncStream<ConnectionEvent> {
    AsyncStream(bufferingPolicy: .bufferingNewest(Self.waiting)) { continuation in
      let number = listeners.withLock { listeners -> Int? in
        if listeners.isOver { return nil }
        listeners.last += 1
        listeners.continuations[listeners.last] = continuation
        return listeners.last
      }
      guard let number else { return continuation.finish() }
      continuation.onTermination = { [weak self] _ in
        _ = self?.listeners.withLock { $0.continuations.removeValue(forKey: number) }
      }
    }
  }

  package func tell(_ event: ConnectionEvent) {
    for listener in inOrder() { listener.yield(event) }
  }

  /// Nothing follows.
  package func finish() {
    let all = inOrder()
    listeners.withLock {
      $0.isOver = true
      $0.continuations = [:]
    }
    for listener in all { listener.finish() }
  }

  private func inOrder() -> [AsyncStream<ConnectionEvent>.Continuation] {
    listeners.withLock { $0.continuations.sorted { $0.key < $1.key }.map(\.value) }
  }
}
