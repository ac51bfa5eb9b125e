package import MartletCore
package import MartletJSON
package import MartletRuntime
package import MartletWireProtocols

/// The server's end of a WebSocket that exists only in memory: a test says what it sends and when it fails.
///
/// Confined to the loop it was made with, hence `@unchecked Sendable`: a test drives it between two runs of a
/// simulation, or from work on that loop.
package final class ScriptedServer: MessageSocketConnector, @unchecked Sendable {
  /// What an attempt to connect meets.
  package enum Door: Sendable {
    case open
    /// Fails at once, with an HTTP status when there is one.
    case refuses(status: Int?)
    /// Never answers.
    case silent
    /// Chooses another subprotocol.
    case speaks(String?)
  }

  private let loop: any Loop
  package var door = Door.open
  /// Acknowledges `connection_init` by itself, with this payload; nil leaves it to the test.
  package var acknowledgement: JSONObject? = JSONObject()
  /// Answers pings by itself.
  package var answersPings = true
  /// Every attempt's request, in order.
  package private(set) var attempts: [MessageSocketRequest] = []
  /// Every socket that opened, in order.
  package private(set) var sockets: [ScriptedSocket] = []

  package init(loop: any Loop) {
    self.loop = loop
  }

  /// The newest socket.
  package var socket: ScriptedSocket? { sockets.last }

  package func open(
    _ request: MessageSocketRequest, on loop: any Loop, handler: any MessageSocketHandler,
    completion: @escaping (Result<Opened, MessageSocketFailure>) -> Void
  ) -> ConnectAttempt {
    attempts.append(request)
    let door = self.door
    // Never inside the call, as with real sockets.
    let timer = loop.schedule(at: loop.now) { [self] in
      switch door {
      case .silent: break
      case .refuses(let status): completion(.failure(MessageSocketFailure("refused", status: status)))
      case .open: answer(GraphQLTransportWS.subprotocol, handler, completion)
      case .speaks(let subprotocol): answer(subprotocol, handler, completion)
      }
    }
    return ConnectAttempt { timer.cancel() }
  }

  private func answer(
    _ subprotocol: String?, _ handler: any MessageSocketHandler,
    _ completion: (Result<Opened, MessageSocketFailure>) -> Void
  ) {
    let socket = ScriptedSocket(server: self, loop: loop, handler: handler)
    sockets.append(socket)
    completion(.success((socket, subprotocol)))
  }
}

/// One socket of a scripted server. As `ScriptedServer`.
package final class ScriptedSocket: MessageSocket, @unchecked Sendable {
  private weak var server: ScriptedServer?
  private let loop: any Loop
  private var handler: (any MessageSocketHandler)?
  /// Text messages of the client, in order.
  package private(set) var received: [String] = []
  /// The client's close.
  package private(set) var clientClose: (code: Int, reason: String)?
  package private(set) var isAborted = false
  private var waiting: [String] = []
  package var isReading = true {
    didSet { if isReading { flush() } }
  }

  init(server: ScriptedServer, loop: any Loop, handler: any MessageSocketHandler) {
    self.server = server
    self.loop = loop
    self.handler = handler
  }

  package func send(text: [UInt8]) {
    let text = String(decoding: text, as: UTF8.self)
    received.append(text)
    if text.contains("\"type\":\"connection_init\""), let payload = server?.acknowledgement {
      later("{\"type\":\"connection_ack\",\"payload\":\(JSONValue.object(payload))}")
    }
    if text.contains("\"type\":\"ping\""), server?.answersPings == true { later("{\"type\":\"pong\"}") }
  }

  private func later(_ text: String) {
    loop.schedule(at: loop.now) { [weak self] in self?.say(text) }
  }

  /// Sends a message to the client; on the loop.
  package func say(_ text: String) {
    waiting.append(text)
    flush()
  }

  private func flush() {
    while isReading, !waiting.isEmpty { handler?.received(text: Array(waiting.removeFirst().utf8)) }
  }

  /// Ends the socket from the server's side; on the loop. 1006 is a cut.
  package func end(_ code: WebSocketCloseCode, _ reason: String = "") {
    let told = handler
    handler = nil
    told?.closed(code: code, reason: reason)
  }

  package func close(_ code: WebSocketCloseCode, reason: String) {
    clientClose = (Int(code.rawValue), reason)
    handler = nil
  }

  package func abort() {
    isAborted = true
    handler = nil
  }
}
