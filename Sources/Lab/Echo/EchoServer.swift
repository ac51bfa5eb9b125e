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
      UpgradingConnection(
        channel, .init(path: "/echo", pool: pool.bound.value, limits: EchoLimits.webSocket), handler: EchoHandler())
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

/// Sends every message back, and reads no more while the peer does not.
final class EchoHandler: UpgradedHandler {
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
