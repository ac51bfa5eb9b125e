import MartletLoop
import MartletRuntime
import MartletSockets
import MartletVocabulary
import MartletWire

/// `martlet echo --port N`: every message comes back, on `/echo`. The peer of the Autobahn suite's fuzzing client, and
/// a plain thing to point any WebSocket client at.
enum EchoServer {
  /// Listens until the process ends.
  /// - Throws: when the port cannot be had.
  static func start(port: Int, address: String = "127.0.0.1") throws -> SocketListener {
    var limits = LoopLimits()
    limits.pendingBytes = EchoLimits.pendingBytes
    let loop = try EpollLoop.start(name: "martlet-echo", limits: limits)
    let pool = EchoPool(on: loop)
    return try SocketListener.start(SocketListener.Options(address: address, port: port), on: [loop]) { channel in
      EchoConnection(channel, pool: pool.bound.value)
    }
  }
}

/// The bounds of the echo, generous for the largest messages of the Autobahn suite.
enum EchoLimits {
  static let messageBytes = 64 << 20
  static let pendingBytes = 256 << 20
  /// Unsent echo above which nothing more is read.
  static let highWater = 1 << 20

  static var webSocket: WebSocketLimits {
    var limits = WebSocketLimits()
    limits.messageBytes = messageBytes
    return limits
  }
}

/// The compression streams of one loop.
struct EchoPool: Sendable {
  let bound: LoopBound<ZlibPool>

  init(on loop: EpollLoop) {
    bound = LoopBound(ZlibPool(), on: loop)
  }
}

/// One connection of the echo: HTTP until the upgrade, then messages.
private final class EchoConnection: ByteChannelHandler {
  private let channel: any ByteChannel
  private let pool: ZlibPool
  private var machine = HTTPServerMachine()
  private var socket: WebSocketChannel?

  init(_ channel: any ByteChannel, pool: ZlibPool) {
    self.channel = channel
    self.pool = pool
  }

  func received(_ bytes: borrowing RawSpan) {
    if let socket { return socket.received(bytes) }
    var events: [HTTPServerEvent] = []
    machine.receive(bytes, events: &events)
    for event in events {
      switch event {
      case .request(let head, _): answer(head)
      case .body: break
      case .requestEnded: upgrade()
      case .failed(let failure): refuse(failure.status)
      }
    }
  }

  private var accepted: WebSocketUpgradeRequest?

  private func answer(_ head: HTTPRequestHead) {
    guard head.path == "/echo" else { return refuse(404) }
    do {
      accepted = try WebSocketUpgradeRequest(head)
    } catch {
      refuse(error.status)
    }
  }

  private func upgrade() {
    guard let accepted else { return }
    let deflate = WebSocketDeflateSettings().accept(accepted.extensions)
    channel.write { machine.upgrade(accepted.response(deflate: deflate?.response), to: &$0.bytes) }
    let compression = deflate.map { ZlibCompression($0.agreed, isServer: true, pool: pool) }
    let handler = EchoHandler()
    let socket = WebSocketChannel(
      channel, role: .server, limits: EchoLimits.webSocket, compression: compression, handler: handler)
    handler.socket = socket
    self.socket = socket
    let rest = machine.takeUpgradedBytes()
    // The span is of the array above, which lives until the call returns.
    if !rest.isEmpty { unsafe socket.received(rest.span.bytes) }
  }

  private func refuse(_ status: Int) {
    guard socket == nil, machine.responding == .waiting else { return }
    var headers = HTTPHeaders()
    if status == 426 { headers.append("Sec-WebSocket-Version", "13") }
    channel.write { machine.respond(HTTPResponseHead(status: status, headers: headers), to: &$0.bytes) }
    channel.closeAfterFlush()
  }

  func drained() {
    socket?.drained()
  }

  func closed(_ reason: ChannelCloseReason) {
    socket?.closed(reason)
    socket = nil
  }
}

/// Sends every message back, and reads no more while the peer does not.
final class EchoHandler: WebSocketHandler {
  /// Weak in effect: the socket lets go of its handler when it is closed.
  var socket: WebSocketChannel?
  private let whenClosed: () -> Void

  init(whenClosed: @escaping () -> Void = {}) {
    self.whenClosed = whenClosed
  }

  func received(text: [UInt8]) {
    socket?.send(text: text)
    holdBack()
  }

  func received(binary: [UInt8]) {
    socket?.send(binary: binary)
    holdBack()
  }

  private func holdBack() {
    if let socket, socket.pendingBytes > EchoLimits.highWater { socket.channel.isReading = false }
  }

  func drained() {
    socket?.channel.isReading = true
  }

  func closed(_ closure: WebSocketClosure) {
    socket = nil
    whenClosed()
  }
}
