package import MartletRuntime
internal import MartletSockets
internal import MartletWire

/// One accepted connection: HTTP requests one after the other, until it ends or is upgraded to a WebSocket.
///
/// Confined to its loop.
package final class HTTPConnection {
  private enum Role {
    /// Next: `upgraded`, `closed`.
    case http(HTTPPipeline)
    /// The bytes belong to a WebSocket, and nothing of HTTP is kept. Next: `closed`.
    case upgraded(WebSocketChannel)
    case closed
  }

  let transport: LoopTransport
  /// Its number among those of its loop.
  let serial: Int
  let channel: any ByteChannel
  /// The client, as far as the connection shows.
  let peer: Peer
  private var role = Role.closed

  package init(_ transport: LoopTransport, _ channel: any ByteChannel) {
    self.transport = transport
    self.channel = channel
    serial = transport.nextSerial()
    peer = Peer(channel)
    role = .http(HTTPPipeline(self))
    transport.connections[ObjectIdentifier(self)] = self
    transport.tally.add(.connectionsOpened)
  }

  /// Gives the connection to a WebSocket, whose handler is `endpoint`.
  ///
  /// - Parameter rest: what the client sent after its request.
  func upgrade(
    _ request: WebSocketUpgradeRequest, to endpoint: any SocketEndpoint, compression: (any WebSocketCompression)?,
    rest: [UInt8]
  ) {
    let socket = WebSocketChannel(
      channel, role: .server, limits: WebSocketLimits(transport.limits), compression: compression,
      gate: transport.gate, handler: endpoint)
    role = .upgraded(socket)
    endpoint.opened(socket)
    if !rest.isEmpty { unsafe socket.received(rest.span.bytes) }
  }

  // MARK: Shutting down

  /// Makes the response under way the last, and ends an idle connection. WebSockets are ended by their handlers.
  func drain() {
    if case .http(let pipeline) = role { pipeline.drain() }
  }

  /// Whether nothing has to be answered or sent that is not on its way.
  var owesNothing: Bool {
    if case .http(let pipeline) = role { return pipeline.owesNothing }
    return false
  }

  /// Whether everything has been sent, the end included, and only the client's end is waited for.
  var awaitsPeerOnly: Bool {
    if case .http(let pipeline) = role { return pipeline.awaitsPeerOnly }
    return false
  }

  func abort() {
    channel.abort()
  }
}

extension HTTPConnection: ByteChannelHandler {
  package func received(_ bytes: borrowing RawSpan) {
    switch role {
    case .http(let pipeline): pipeline.received(bytes)
    case .upgraded(let socket): socket.received(bytes)
    case .closed: break
    }
  }

  package func drained() {
    switch role {
    case .http(let pipeline): pipeline.drained()
    case .upgraded(let socket): socket.drained()
    case .closed: break
    }
  }

  package func peerFinished() -> Bool {
    if case .http(let pipeline) = role { return pipeline.peerFinished() }
    return false
  }

  package func closed(_ reason: ChannelCloseReason) {
    let ended = role
    role = .closed
    switch ended {
    case .http(let pipeline): pipeline.closed()
    case .upgraded(let socket): socket.closed(reason)
    case .closed: break
    }
    transport.connections[ObjectIdentifier(self)] = nil
    transport.tally.add(.connectionsClosed)
    transport.onProgress?()
  }
}
