package import MartletGraphQLClient
internal import MartletHTTPWire
package import MartletRuntime
internal import MartletVocabulary

/// WebSockets by the system's client. They are not compressed: the system offers no compression.
package final class SystemSockets: MessageSocketConnector {
  private let tasks: any SocketTasks

  package init(_ tasks: any SocketTasks) {
    self.tasks = tasks
  }

  package func open(
    _ request: MessageSocketRequest, on loop: any Loop, handler: any MessageSocketHandler,
    completion: @escaping (Result<Opened, MessageSocketFailure>) -> Void
  ) -> ConnectAttempt {
    let socket = SystemSocket(on: loop, handler: handler, completion: completion)
    socket.open(request, by: tasks)
    return ConnectAttempt { socket.abandon() }
  }
}

/// One WebSocket. Confined to its loop. Its task holds it while it runs.
private final class SystemSocket: MessageSocket, SocketTaskEvents {
  private enum Phase {
    /// Next: `open`, `over`.
    case opening
    /// Next: `closing`, `over`.
    case open
    /// This side has closed. Next: `over`.
    case closing
    case over
  }

  private let loop: any Loop
  private var handler: (any MessageSocketHandler)?
  private var completion: ((Result<MessageSocketConnector.Opened, MessageSocketFailure>) -> Void)?
  private var task: (any SocketTask)?
  private var phase = Phase.opening
  private var deadline: LoopTimer?
  /// A message has been asked for, and has not come.
  private var isReceiving = false
  /// How the server closed, until the task has ended.
  private var closure: (code: Int, reason: [UInt8])?

  /// Time for the other side to answer the closing handshake.
  private static let closeTime = Duration.seconds(5)
  private static let abnormal = Int(WebSocketCloseCode.abnormal.rawValue)

  init(
    on loop: any Loop, handler: any MessageSocketHandler,
    completion: @escaping (Result<MessageSocketConnector.Opened, MessageSocketFailure>) -> Void
  ) {
    self.loop = loop
    self.handler = handler
    self.completion = completion
  }

  func open(_ request: MessageSocketRequest, by tasks: any SocketTasks) {
    var checked = HTTPHeaders()
    do throws(GraphQLClientError) {
      try checked.append(checking: request.headers)
    } catch {
      return failLater(error.message)
    }
    guard let task = tasks.make(request, on: loop, events: self) else {
      return failLater("the address cannot be read")
    }
    self.task = task
    deadline = loop.schedule(at: loop.now + request.openTimeout) { [weak self] in
      self?.fail(MessageSocketFailure("the opening handshake took too long"))
    }
    task.resume()
  }

  private func failLater(_ message: String) {
    deadline = loop.schedule(at: loop.now) { [self] in fail(MessageSocketFailure(message)) }
  }

  /// The attempt is given up: nothing is reported.
  func abandon() {
    guard phase == .opening else { return }
    completion = nil
    end()
  }

  private func fail(_ failure: MessageSocketFailure) {
    let told = completion
    completion = nil
    end()
    told?(.failure(failure))
  }

  private func end() {
    phase = .over
    deadline?.cancel()
    deadline = nil
    handler = nil
    let running = task
    task = nil
    running?.cancel()
  }

  /// The socket is over: the handler is called for the last time.
  private func finish(code: Int, reason: String) {
    let told = handler
    end()
    told?.closed(code: WebSocketCloseCode(rawValue: UInt16(clamping: code)), reason: reason)
  }

  /// The same as the server closed it, otherwise with this code and reason.
  private func finish(unlessClosed code: Int, _ reason: String) {
    if let closure { return finish(code: closure.code, reason: String(decoding: closure.reason, as: UTF8.self)) }
    finish(code: code, reason: reason)
  }

  /// The task's end follows and says how the socket closed. A task that does not end is given up after a while.
  private func expectEnd(unlessClosed code: Int, _ reason: String) {
    guard deadline == nil else { return }
    deadline = loop.schedule(at: loop.now + Self.closeTime) { [weak self] in
      self?.finish(unlessClosed: code, reason)
    }
  }

  // MARK: Events

  func opened(subprotocol: String?) {
    guard phase == .opening, let told = completion else { return }
    phase = .open
    completion = nil
    deadline?.cancel()
    deadline = nil
    told(.success((self, subprotocol)))
    if closure != nil, phase == .open { expectEnd(unlessClosed: Self.abnormal, "") }
    receiveNext()
  }

  func closed(code: Int, reason: [UInt8]) {
    closure = (code, reason)
    // What came before it may still be asked for.
    if phase == .open { expectEnd(unlessClosed: Self.abnormal, "") }
  }

  func completed(_ error: (any Error)?, status: Int?, retryAfter: String?) {
    switch phase {
    case .opening:
      let answered = status.flatMap { $0 == 101 ? nil : $0 }
      let text = answered == nil ? error.map { "\($0)" } ?? "the server ended the handshake" : "the server refused"
      fail(MessageSocketFailure(text, status: answered, retryAfter: retryAfter))
    case .open, .closing: finish(unlessClosed: Self.abnormal, error.map { "\($0)" } ?? "")
    case .over: break
    }
  }

  private func receiveNext() {
    guard phase == .open, isReading, !isReceiving, let task else { return }
    isReceiving = true
    task.receive { [weak self] result in
      guard let self else { return }
      isReceiving = false
      guard phase == .open else { return }
      switch result {
      case .success(.text(let text)): handler?.received(text: Array(text.utf8))
      case .success(.binary): handler?.receivedBinary()
      case .failure(let error): return expectEnd(unlessClosed: Self.abnormal, "\(error)")
      }
      receiveNext()
    }
  }

  // MARK: The owner

  /// Back-pressure: while it is false the next message is not asked for, and the system stops reading.
  var isReading = true {
    didSet {
      // In a later turn: the owner may be in the middle of a message.
      if isReading, !oldValue { loop.schedule(at: loop.now) { [weak self] in self?.receiveNext() } }
    }
  }

  func send(text: [UInt8]) {
    guard phase == .open else { return }
    // What was not sent cannot be answered, so that the connection is of no more use.
    task?.send(text: String(decoding: text, as: UTF8.self)) { [weak self] error in
      guard let self, let error, phase == .open else { return }
      expectEnd(unlessClosed: Self.abnormal, "\(error)")
    }
  }

  func close(_ code: WebSocketCloseCode, reason: String) {
    guard phase == .open else { return }
    phase = .closing
    task?.close(code: Int(code.rawValue), reason: Array(reason.utf8))
    deadline?.cancel()
    deadline = nil
    expectEnd(unlessClosed: Int(code.rawValue), reason)
  }

  func abort() {
    guard phase == .open || phase == .closing else { return }
    phase = .closing
    deadline?.cancel()
    // Not inside the owner's call.
    deadline = loop.schedule(at: loop.now) { [weak self] in
      self?.finish(code: Self.abnormal, reason: "")
    }
  }
}
