import MartletRuntime
import MartletSockets
import MartletWire

/// What takes the messages of an `UpgradingConnection`.
protocol UpgradedHandler: WebSocketHandler {
  /// The socket, from the upgrade until it is closed: it holds its handler meanwhile.
  var socket: WebSocketChannel? { get set }
}

/// One connection of a tool's server: HTTP until the upgrade, then the messages of a WebSocket.
final class UpgradingConnection: ByteChannelHandler {
  /// Which upgrades are accepted, and how.
  struct Terms {
    /// The path that is served; nil for all.
    var path: String?
    var subprotocol: String?
    /// The compression streams of the loop; nil for sockets without compression.
    var pool: ZlibPool?
    var limits = WebSocketLimits()
  }

  private let channel: any ByteChannel
  private let terms: Terms
  private let handler: any UpgradedHandler
  private var machine = HTTPServerMachine()
  private var accepted: WebSocketUpgradeRequest?
  private var socket: WebSocketChannel?

  init(_ channel: any ByteChannel, _ terms: Terms, handler: any UpgradedHandler) {
    self.channel = channel
    self.terms = terms
    self.handler = handler
  }

  func received(_ bytes: borrowing RawSpan) {
    if let socket { return socket.received(bytes) }
    var events: [HTTPServerEvent] = []
    machine.receive(bytes, events: &events)
    for event in events {
      switch event {
      case .request(let head, _): accept(head)
      case .body: break
      case .requestEnded: upgrade()
      case .failed(let failure): refuse(failure.status)
      }
    }
  }

  private func accept(_ head: HTTPRequestHead) {
    if let path = terms.path, head.path != path { return refuse(404) }
    do {
      accepted = try WebSocketUpgradeRequest(head)
    } catch {
      refuse(error.status)
    }
  }

  private func upgrade() {
    guard let accepted else { return }
    let deflate = terms.pool == nil ? nil : WebSocketDeflateSettings().accept(accepted.extensions)
    let response = accepted.response(subprotocol: terms.subprotocol, deflate: deflate?.response)
    channel.write { machine.upgrade(response, to: &$0.bytes) }
    let compression = terms.pool.flatMap { pool in
      deflate.map { ZlibCompression($0.agreed, isServer: true, pool: pool) }
    }
    let socket = WebSocketChannel(
      channel, role: .server, limits: terms.limits, compression: compression, handler: handler)
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
