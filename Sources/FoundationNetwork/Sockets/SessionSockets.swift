package import MartletGraphQLClient
package import MartletRuntime

#if canImport(FoundationNetworking)
  internal import Foundation
  package import FoundationNetworking
#else
  package import Foundation
#endif

/// WebSocket tasks of `URLSession`, in a session of their own.
///
/// With swift-corelibs-foundation a task fails at once, because the library was built without WebSockets; there the
/// adapter is tested with scripted tasks.
package final class SessionSockets: SocketTasks, Sendable {
  private let loop: DispatchLoop
  private let session: URLSession
  private let relay: SocketRelay

  /// - Parameters:
  ///   - configuration: proxies, cookies and TLS; its time-outs are not used.
  ///   - observer: a delegate of the application's own; kept for challenges, which are not forwarded yet.
  package init(
    on loop: DispatchLoop, configuration: URLSessionConfiguration, observer: (any URLSessionDelegate)? = nil
  ) {
    self.loop = loop
    relay = SocketRelay(loop, observer: observer)
    let own = (configuration.copy() as? URLSessionConfiguration) ?? configuration
    // The loop's timers decide; a week is longer than any of them. Longer values overflow in some versions.
    own.timeoutIntervalForRequest = 604_800
    own.timeoutIntervalForResource = 604_800
    session = URLSession(configuration: own, delegate: relay, delegateQueue: loop.operations)
  }

  deinit { session.invalidateAndCancel() }

  package func make(
    _ request: MessageSocketRequest, on loop: any Loop, events: any SocketTaskEvents
  ) -> (any SocketTask)? {
    precondition(self.loop.isCurrent, "a task is made on its loop")
    guard let url = URL(string: request.endpoint.socketURL) else { return nil }
    var call = URLRequest(url: url)
    for (name, value) in request.headers { call.addValue(value, forHTTPHeaderField: name) }
    if !request.subprotocols.isEmpty {
      call.setValue(request.subprotocols.joined(separator: ", "), forHTTPHeaderField: "Sec-WebSocket-Protocol")
    }
    let task = session.webSocketTask(with: call)
    task.maximumMessageSize = request.messageBytes
    relay.running[ObjectIdentifier(task)] = events
    return SessionSocket(task, self.loop)
  }
}

/// A task of the session's.
private final class SessionSocket: SocketTask {
  private let task: URLSessionWebSocketTask
  private let loop: DispatchLoop

  init(_ task: URLSessionWebSocketTask, _ loop: DispatchLoop) {
    self.task = task
    self.loop = loop
  }

  func resume() { task.resume() }

  func send(text: String, _ completion: @escaping ((any Error)?) -> Void) {
    let told = LoopBound(completion, on: loop)
    task.send(.string(text)) { error in
      told.loop.execute { told.value(error) }
    }
  }

  func receive(_ completion: @escaping (Result<SocketTaskMessage, any Error>) -> Void) {
    let told = LoopBound(completion, on: loop)
    task.receive { result in
      let message = result.map { message in
        switch message {
        case .string(let text): SocketTaskMessage.text(text)
        case .data: SocketTaskMessage.binary
        @unknown default: SocketTaskMessage.binary
        }
      }
      told.loop.execute { told.value(message) }
    }
  }

  func close(code: Int, reason: [UInt8]) {
    // Codes of applications have no case everywhere; such a closing is an ordinary one on the wire.
    let code = URLSessionWebSocketTask.CloseCode(rawValue: code) ?? .normalClosure
    task.cancel(with: code, reason: reason.isEmpty ? nil : Data(reason))
  }

  func cancel() { task.cancel() }
}

/// The session's delegate: its calls come on the loop's queue, and become turns of the loop.
///
/// `@unchecked Sendable` holds because `running` is touched only on the loop's queue.
private final class SocketRelay: NSObject, URLSessionWebSocketDelegate, @unchecked Sendable {
  private let loop: DispatchLoop
  private let observer: (any URLSessionDelegate)?
  var running: [ObjectIdentifier: any SocketTaskEvents] = [:]

  init(_ loop: DispatchLoop, observer: (any URLSessionDelegate)?) {
    self.loop = loop
    self.observer = observer
  }

  private func tell(_ task: URLSessionTask, _ body: (any SocketTaskEvents) -> Void) {
    loop.turn {
      if let events = running[ObjectIdentifier(task)] { body(events) }
    }
  }

  func urlSession(
    _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
  ) {
    tell(webSocketTask) { $0.opened(subprotocol: `protocol`) }
  }

  func urlSession(
    _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
    didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
  ) {
    tell(webSocketTask) { $0.closed(code: closeCode.rawValue, reason: reason.map { Array($0) } ?? []) }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    tell(task) {
      running[ObjectIdentifier(task)] = nil
      let response = task.response as? HTTPURLResponse
      $0.completed(
        error, status: response?.statusCode, retryAfter: response?.value(forHTTPHeaderField: "Retry-After"))
    }
  }

  /// A handshake that is redirected is refused, with the status.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }
}
