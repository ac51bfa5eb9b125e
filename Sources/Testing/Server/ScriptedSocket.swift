internal import MartletGraphQLClient
public import MartletJSON
internal import MartletRuntime
public import MartletVocabulary
package import MartletWire

/// One WebSocket of a scripted server, seen from the server. Where and when to use it: as `ScriptedServer`.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
public final class ScriptedSocket: @unchecked Sendable {
  /// Text messages of the client, in order.
  public private(set) var received: [String] = []
  /// How the client closed, if it did.
  public private(set) var clientClose: (code: Int, reason: String)?
  /// Whether the client dropped the socket without a close.
  public private(set) var isAborted = false
  /// Whether this end can still send to the client.
  public var isOpen: Bool { handler != nil }

  /// What it speaks.
  public let dialect: Dialect

  private(set) weak var server: ScriptedServer?
  let loop: any Loop
  private var handler: (any MessageSocketHandler)?
  private var isSilent = false
  private var waiting: [String] = []
  private var waitingHead = 0
  private var unread: [String] = []
  private let waiters: Waiters
  var isReading = true {
    didSet { if isReading { flush() } }
  }

  init(server: ScriptedServer, _ dialect: Dialect, handler: any MessageSocketHandler) {
    self.server = server
    self.dialect = dialect
    loop = server.loop
    waiters = Waiters(server.loop, isInside: server.isInside)
    self.handler = handler
  }

  // MARK: The script

  /// The client's next message that was not answered by itself and not expected yet. Inside `VirtualTime.run`.
  /// - Throws: `ScriptError` when it is of another type, when the socket ends, or when nothing comes within `limit`.
  @discardableResult
  public func expect(_ type: String, within limit: Duration = .seconds(60)) async throws -> JSONObject {
    let deadline = loop.now + limit
    while unread.isEmpty {
      guard isOpen else { throw ScriptError("expected \(type), but the socket has ended") }
      guard loop.now < deadline else { throw ScriptError("expected \(type), but nothing came within \(limit)") }
      await waiters.wait(until: deadline)
    }
    let text = unread.removeFirst()
    guard let message = (try? JSONValue(parsing: text))?.object, message["type"]?.string == type else {
      throw ScriptError("expected \(type), but the client sent \(text)")
    }
    return message
  }

  /// Returns when the client has closed or dropped the socket. Inside `VirtualTime.run`.
  /// - Throws: `ScriptError` when it does not within `limit`.
  public func expectClose(within limit: Duration = .seconds(60)) async throws {
    let deadline = loop.now + limit
    while clientClose == nil, !isAborted {
      guard loop.now < deadline else { throw ScriptError("the client did not close within \(limit)") }
      await waiters.wait(until: deadline)
    }
  }

  /// Sends one message to the client.
  public func send(_ message: JSONObject) {
    say("\(JSONValue.object(message))")
  }

  /// Sends text to the client as it is; for what no server should send.
  public func say(_ text: String) {
    let delay = server?.delay ?? .zero
    if delay == .zero, loop.isCurrent { return arrive(text) }
    loop.execute { [self] in
      if delay == .zero { return arrive(text) }
      loop.schedule(at: loop.now + delay) { [weak self] in self?.arrive(text) }
    }
  }

  /// Closes the socket with a code and a reason.
  public func close(_ code: Int, reason: String = "") {
    end(WebSocketCloseCode(rawValue: UInt16(clamping: code)), reason)
  }

  /// Cuts the connection: the client sees only that it is gone (1006).
  public func cut() {
    end(1006)
  }

  /// From now on nothing arrives in either direction, without a notice: a peer that lost power.
  public func goSilent() {
    isSilent = true
  }

  /// Ends the socket from the server's side. 1006 is a cut.
  package func end(_ code: WebSocketCloseCode, _ reason: String = "") {
    let delay = server?.delay ?? .zero
    if delay == .zero, loop.isCurrent { return finish(code, reason) }
    loop.execute { [self] in
      if delay == .zero { return finish(code, reason) }
      loop.schedule(at: loop.now + delay) { [weak self] in self?.finish(code, reason) }
    }
  }

  private func finish(_ code: WebSocketCloseCode, _ reason: String) {
    guard !isSilent else { return }
    let told = handler
    handler = nil
    told?.closed(code: code, reason: reason)
    waiters.wake()
  }

  private func arrive(_ text: String) {
    guard !isSilent else { return }
    waiting.append(text)
    flush()
  }

  private func flush() {
    while isReading, waitingHead < waiting.count, let handler {
      waitingHead += 1
      handler.received(text: Array(waiting[waitingHead - 1].utf8))
    }
    if waitingHead == waiting.count || waitingHead > 4_096 {
      waiting.removeFirst(min(waitingHead, waiting.count))
      waitingHead = 0
    }
  }

  // MARK: The client's end

  func clientSent(_ bytes: [UInt8]) {
    guard !isSilent, handler != nil else { return }
    let text = String(decoding: bytes, as: UTF8.self)
    received.append(text)
    let answer = ownAnswer(to: text)
    guard let answer else { return expected(text) }
    // Never inside the client's call, as with real sockets.
    loop.schedule(at: loop.now) { [weak self] in
      guard let self else { return }
      for text in answer.texts { say(text) }
      if answer.isExpected { expected(text) }
      if answer.keepsAlive { keepAlive() }
    }
  }

  private func expected(_ text: String) {
    unread.append(text)
    waiters.wake()
  }

  func clientClosed(_ code: WebSocketCloseCode, _ reason: String) {
    handler = nil
    guard !isSilent else { return }
    clientClose = (Int(code.rawValue), reason)
    waiters.wake()
  }

  func clientAborted() {
    handler = nil
    isAborted = true
    waiters.wake()
  }
}

/// The same socket as the client holds it.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class ClientEnd: MessageSocket {
  private let socket: ScriptedSocket

  init(_ socket: ScriptedSocket) {
    self.socket = socket
  }

  func send(text: [UInt8]) { socket.clientSent(text) }
  func close(_ code: WebSocketCloseCode, reason: String) { socket.clientClosed(code, reason) }
  func abort() { socket.clientAborted() }
  var isReading: Bool {
    get { socket.isReading }
    set { socket.isReading = newValue }
  }
}
