import MartletGraphQLWire
import MartletJSON
import MartletLoop
import MartletRuntime
import MartletSockets
import MartletVocabulary
import MartletWire
import Testing

/// A loop for the test's own sockets, shared by the suite.
enum TestLoop {
  static let result = Result { try EpollLoop.start(name: "test") }
  static func shared() throws -> EpollLoop { try result.get() }
}

/// One WebSocket that sends and receives what the test says, rules or not.
///
/// `@unchecked Sendable` because what changes is under a lock, or touched on the loop only.
final class RawSocket: WebSocketHandler, @unchecked Sendable {
  enum Heard: Sendable, Equatable {
    case message(JSONValue)
    case closed(UInt16)
  }

  private struct State {
    var heard: [Heard] = []
    var waiting: CheckedContinuation<Heard, Never>?
    var reason: String?
  }

  private let loop: EpollLoop
  private let state = Lock(State())
  /// Keeps long messages as text: reading them as JSON is slow without optimisation.
  private let parses = Lock(true)
  private let chosen = Lock<String?>(nil)
  /// The subprotocol the server chose.
  var subprotocol: String? { chosen.withLock { $0 } }
  /// On the loop.
  private var channel: WebSocketChannel?

  private init(_ loop: EpollLoop) { self.loop = loop }

  static func open(
    port: Int, subprotocols: [String] = [GraphQLTransportWS.subprotocol], headers: [(String, String)] = [],
    deflate: Bool = false, target: String = "/graphql"
  ) async throws -> RawSocket {
    let loop = try TestLoop.shared()
    let socket = RawSocket(loop)
    let result = await withCheckedContinuation { (done: CheckedContinuation<WebSocketConnector.Failure?, Never>) in
      loop.execute {
        var request = WebSocketConnector.Request(
          endpoint: ConnectionTarget(host: "127.0.0.1", port: port, isSecure: false), target: target)
        request.subprotocols = subprotocols
        request.limits.messageBytes = 16 << 20
        if deflate { request.deflate = WebSocketDeflateSettings() }
        for (name, value) in headers { request.headers.append(name, value) }
        let connector = WebSocketConnector(
          SocketConnector(), pool: ZlibPool(), random: SeededRandom(seed: 3))
        _ = connector.open(request, on: loop, handler: socket) { result in
          switch result {
          case .success(let opened):
            socket.channel = opened.channel
            socket.chosen.withLock { $0 = opened.subprotocol }
            done.resume(returning: nil)
          case .failure(let failure): done.resume(returning: failure)
          }
        }
      }
    }
    if let result { throw result }
    return socket
  }

  /// Opened, greeted and acknowledged.
  static func session(port: Int, cursors: Bool = true, deflate: Bool = false) async throws -> RawSocket {
    let socket = try await open(port: port, deflate: deflate)
    socket.send(
      cursors
        ? #"{"type":"connection_init","payload":{"martlet":{"cursors":true,"writes":true}}}"#
        : #"{"type":"connection_init"}"#)
    let ack = await socket.next()
    guard case .message(let message) = ack, message["type"] == "connection_ack" else {
      throw UnexpectedMessage(heard: ack)
    }
    return socket
  }

  struct UnexpectedMessage: Error { var heard: Heard }

  func send(_ texts: String...) { send(texts) }

  /// Sends messages in one turn, so that they leave together.
  func send(_ texts: [String]) {
    loop.execute { for text in texts { self.channel?.send(text: Array(text.utf8)) } }
  }

  /// Sends bytes beneath the frames, rules or not.
  func sendRaw(_ bytes: [UInt8]) { loop.execute { self.channel?.channel.write { $0.append(bytes) } } }

  func sendBinary(_ bytes: [UInt8]) { loop.execute { self.channel?.send(binary: bytes) } }

  func subscribe(
    _ id: String, _ query: String, variables: JSONObject = [:], resume: String? = nil, view: String? = nil
  ) {
    var payload: JSONObject = ["query": .string(query), "variables": .object(variables)]
    if let resume {
      var member: JSONObject = ["resume": .string(resume)]
      if let view { member["view"] = .string(view) }
      payload["extensions"] = ["martlet": .object(member)]
    }
    send(
      String(
        decoding: JSONValue.object(["id": .string(id), "type": "subscribe", "payload": .object(payload)]).serialized(),
        as: UTF8.self))
  }

  /// Stops or continues reading.
  func setReading(_ isReading: Bool) { loop.execute { self.channel?.channel.isReading = isReading } }

  /// From now on messages are strings.
  func keepText() { parses.withLock { $0 = false } }

  func abort() { loop.execute { self.channel?.abort() } }

  func close() { loop.execute { self.channel?.close(.normal, reason: "") } }

  /// The next message, or the end; keep-alive messages of the protocol are not answered but reported.
  ///
  /// A test whose time is up gets an abnormal end, so that it fails and the run continues.
  func next() async -> Heard {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let ready: Heard? = state.withLock { state in
          if !state.heard.isEmpty { return state.heard.removeFirst() }
          if Task.isCancelled { return .closed(1006) }
          state.waiting = continuation
          return nil
        }
        if let ready { continuation.resume(returning: ready) }
      }
    } onCancel: {
      tell(.closed(1006))
    }
  }

  /// The next message; the end is an error.
  func message() async throws -> JSONValue {
    let heard = await next()
    guard case .message(let message) = heard else { throw UnexpectedMessage(heard: heard) }
    return message
  }

  /// The next message of a type; others are skipped.
  func message(_ type: String) async throws -> JSONValue {
    while true {
      let message = try await message()
      if message["type"]?.string == type { return message }
    }
  }

  /// Everything up to the end.
  func closeCode() async -> UInt16 {
    while true { if case .closed(let code) = await next() { return code } }
  }

  /// Code and reason of the end; what comes before it is passed over.
  func closing() async -> Closing {
    let code = await closeCode()
    return Closing(code, state.withLock { $0.reason } ?? "")
  }

  /// How a server ended a socket.
  struct Closing: Sendable, Equatable {
    var code: UInt16
    var reason: String

    init(_ code: UInt16, _ reason: String) {
      self.code = code
      self.reason = reason
    }
  }

  /// What has come and was not asked for yet.
  var waiting: Int { state.withLock { $0.heard.count } }

  private func tell(_ heard: Heard) {
    let waiting = state.withLock { state -> CheckedContinuation<Heard, Never>? in
      defer { state.waiting = nil }
      if state.waiting == nil { state.heard.append(heard) }
      return state.waiting
    }
    waiting?.resume(returning: heard)
  }

  func received(text: [UInt8]) {
    guard parses.withLock({ $0 }) else { return tell(.message(.string(String(decoding: text, as: UTF8.self)))) }
    tell(.message((try? JSONValue(parsing: text)) ?? .null))
  }

  func closed(_ closure: WebSocketClosure) {
    state.withLock { $0.reason = closure.reason }
    tell(.closed(closure.code.rawValue))
  }
}
