internal import MartletLoop
internal import MartletRuntime
internal import MartletSockets

/// The ports of a server: for its clients, and where one is configured for its operators.
struct ServerListeners {
  let clients: SocketListener
  let administration: SocketListener?

  /// Binds and begins to accept.
  init(
    _ configuration: ServerConfiguration, _ node: ServerNode, _ tls: TLSServerContext?, on loops: [EpollLoop],
    _ hubs: [LoopBound<LoopServer>]
  ) throws(ServerError) {
    var options = SocketListener.Options(address: configuration.address, port: configuration.port)
    options.inherited = configuration.listeningSocket
    options.limits = ListenerLimits(configuration.limits)
    options.tls = tls
    if configuration.expectsProxyProtocol { options.proxies = node.trustedProxies }
    do throws(SocketError) {
      clients = try SocketListener.start(options, on: loops) { channel in
        hubs.first { $0.loop === channel.loop }.map { HTTPConnection($0.value.transport, channel) }
      }
    } catch {
      throw ServerError(error.isAddressInUse ? .addressInUse : .network, "\(error)")
    }
    do throws(SocketError) {
      administration = try Self.administration(configuration, on: loops, hubs)
    } catch {
      clients.stop()
      throw ServerError(
        error.isAddressInUse ? .addressInUse : .network, "The administration's port: \(error)", isOfAdministration: true
      )
    }
  }

  private static func administration(
    _ configuration: ServerConfiguration, on loops: [EpollLoop], _ hubs: [LoopBound<LoopServer>]
  ) throws(SocketError) -> SocketListener? {
    let socket = configuration.adminListeningSocket
    guard let port = configuration.adminPort ?? socket.map({ _ in 0 }) else { return nil }
    var options = SocketListener.Options(address: configuration.adminAddress, port: port)
    options.inherited = socket
    options.limits = ListenerLimits(configuration.limits)
    return try SocketListener.start(options, on: loops) { channel in
      guard let hub = hubs.first(where: { $0.loop === channel.loop }) else { return nil }
      return hub.value.administration.map { HTTPConnection($0, channel) }
    }
  }
}
