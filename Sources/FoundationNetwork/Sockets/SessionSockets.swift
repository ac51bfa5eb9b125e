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
  ///   - delegation: what is trusted, and where challenges and metrics go.
  package init(
    on loop: DispatchLoop, configuration: URLSessionConfiguration, delegation: SessionDelegation = SessionDelegation()
  ) {
    self.loop = loop
    relay = SocketRelay(loop, delegation)
    session = SessionRelay.session(configuration, connections: nil, relay)
  }

  deinit { session.invalidateAndCancel() }

  package func make(
    _ request: MessageSocketRequest, on loop: any Loop, events: any SocketTaskEvents
  ) -> (any SocketTask)? {
    precondition(self.loop.isCurrent, "a task is made on its loop")
    guard let url = URL(string: request.endpoint.socketURL) else { return nil }
    var call = URLRequest(url: url)
    call.add(request.headers)
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

/// Reports the tasks' events to their sockets.
private final class SocketRelay: SessionRelay, URLSessionWebSocketDelegate, @unchecked Sendable {
  var running: [ObjectIdentifier: any SocketTaskEvents] = [:]

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

  override func ended(_ task: URLSessionTask, _ error: (any Error)?, refusal: String?) {
    guard let events = running.removeValue(forKey: ObjectIdentifier(task)) else { return }
    let response = task.response as? HTTPURLResponse
    let reason: (any Error)? = refusal.map { HTTPExchangeError(.tls, $0) } ?? error
    events.completed(
      reason, status: response?.statusCode, retryAfter: response?.value(forHTTPHeaderField: "Retry-After"))
  }
}
