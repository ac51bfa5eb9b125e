internal import MartletHTTPClient
internal import MartletLoop
internal import MartletModels
internal import MartletRuntime
internal import MartletSockets
internal import MartletStore
internal import MartletVocabulary

/// A server for one schema: GraphQL over HTTP and WebSocket, on an embedded store whose change log feeds every
/// subscription.
///
/// ```swift
/// var configuration = ServerConfiguration(schema: "type Todo @model { id: ID! text: String! }")
/// configuration.access = .development
/// let server = try GraphQLServer(configuration)
/// try server.start()
/// print("http://127.0.0.1:\(server.port)/graphql")
/// ```
public final class GraphQLServer: Sendable {
  private struct Running {
    var loops: LoopGroup
    var listeners: ServerListeners
    var hubs: [LoopBound<LoopServer>]
    var tls: TLSServerContext?
  }

  let configuration: ServerConfiguration
  /// The first store.
  package let node: ServerNode
  /// All stores, the first one first.
  package let nodes: [ServerNode]
  private let metrics: MetricsCollector
  private let running = Lock<Running?>(nil)
  private let life = Lock(ServerLife.made)
  private let failure: FailureSwitch
  /// Whether another schema is being put in force.
  let isReloading = Lock(false)
  let calendar: Calendar
  /// For key sets of token issuers.
  private let http: any HTTPExchanging = CurlClient()

  /// Reads the schema and opens the data. Nothing is served yet.
  ///
  /// - Throws: `ServerError` for a schema, access configuration or data folder that cannot be served.
  public init(_ given: ServerConfiguration) throws(ServerError) {
    let configuration = try given.checked()
    self.configuration = configuration
    var chance = SystemChance.generator()
    let failure = FailureSwitch()
    self.failure = failure
    var terms: [UInt64] = []
    for _ in 0...configuration.stores.count { terms.append(chance.next()) }
    let calendar = Calendar(milliseconds: WallClock.milliseconds, generator: chance)
    self.calendar = calendar
    func surroundings(_ data: ServerConfiguration.Data, term: UInt64) -> ServerAssembly.Surroundings {
      .process(data, term: term, calendar, configuration, failure)
    }
    let node = try ServerAssembly.node(configuration, on: surroundings(configuration.data, term: terms[0]))
    self.node = node
    var nodes = [node]
    do throws(ServerError) {
      for (store, term) in zip(configuration.stores, terms.dropFirst()) {
        nodes.append(
          try ServerAssembly.node(
            configuration.serving(store), on: surroundings(store.data, term: term), besides: node, at: store.path))
      }
    } catch {
      for node in nodes { node.store.close() }
      throw error
    }
    self.nodes = nodes
    metrics = MetricsCollector(node.store, nodes.dropFirst().map { ($0.path, $0.store) })
  }

  /// The store whose paths begin with `path`; the first for nil.
  func node(at path: String?) throws(ServerError) -> ServerNode {
    guard let path else { return node }
    guard let found = nodes.first(where: { Array($0.path.utf8) == Array(path.utf8) }) else {
      throw ServerError(.endpoint, "There is no store at \"\(path)\".")
    }
    return found
  }

  /// The bound port; zero before `start`.
  public var port: Int { running.withLock { $0?.listeners.clients.port ?? 0 } }

  /// The bound port of the administration; zero before `start`, and where `ServerConfiguration.adminPort` is nil.
  public var adminPort: Int { running.withLock { $0?.listeners.administration?.port ?? 0 } }

  /// Binds and serves. Returns at once; serving continues until `stop`.
  ///
  /// - Throws: `ServerError` when the address cannot be bound or the certificate cannot be read, after which it may be
  ///   started again; and when it has been started or stopped before.
  public func start() throws(ServerError) {
    let before = life.withLock { life in
      defer { if life == .made { life = .started } }
      return life
    }
    if let refusal = before.refusal { throw refusal }
    do {
      try serve()
    } catch {
      life.withLock { life in if life == .started { life = .made } }
      throw error
    }
  }

  private func serve() throws(ServerError) {
    let tls = try configuration.certificate.map { pair throws(ServerError) in try pair.context() }
    let loops: LoopGroup
    var bounds: [LoopBound<LoopServer>] = []
    do {
      loops = try LoopGroup.start(
        count: configuration.loops ?? SystemCores.spare(), limits: LoopLimits(configuration.limits))
    } catch {
      throw ServerError(.network, "\(error)")
    }
    let metrics = metrics
    let others = Array(nodes.dropFirst())
    let desk = node.channels.map { _ in ChannelDesk(on: loops.loops[0]) }
    for loop in loops.loops {
      bounds.append(LoopBound(LoopServer(node, others, on: loop, metrics: metrics, channels: desk), on: loop))
    }
    for hub in bounds { hub.loop.execute { hub.value.start() } }
    // Before the first connection: its token may need the keys.
    fetchKeys(on: bounds[0])
    configuration.tracer?.export(on: bounds[0].loop, http, node.log)
    // Before the first request for them.
    bounds[0].loop.execute { [first = bounds[0]] in
      first.value.deliverChannels { CurlClient(options: CurlClient.Options(channels: $0)) }
    }
    let listeners: ServerListeners
    do throws(ServerError) {
      listeners = try ServerListeners(configuration, node, tls, on: loops.loops, bounds)
    } catch {
      loops.stop()
      throw error
    }
    running.withLock { $0 = Running(loops: loops, listeners: listeners, hubs: bounds, tls: tls) }
    let first = bounds[0]
    first.loop.execute { first.value.careForStores() }
    node.log.write(
      .info, "The server is listening.",
      [
        (.address, configuration.address), (.port, "\(listeners.clients.port)"),
        (.term, String(node.store.position.term, radix: 16)),
      ])
  }

  /// Stops gracefully: takes no new connections, finishes what runs, asks clients to reconnect (close code 1001) and
  /// closes the store, so that it cannot be started again. Suspends for at most the limits' `shutdownGrace` and
  /// `shutdownLinger` together, and two seconds more where there is a collector of traces.
  public func stop() async {
    life.withLock { $0 = .stopped }
    let stopping = running.withLock { running in
      defer { running = nil }
      return running
    }
    guard let stopping else { return closeStores() }
    stopping.listeners.clients.stop()
    for hub in stopping.hubs {
      await withCheckedContinuation { continuation in
        hub.loop.execute { hub.value.drain { continuation.resume() } }
      }
    }
    stopping.listeners.administration?.stop()
    await configuration.tracer?.drain()
    stopping.loops.stop()
    metrics.forget()
    closeStores()
    node.log.write(.info, "The server has stopped.")
    await node.log.flushed()
  }

  private func closeStores() {
    node.namespaces.close()
    for node in nodes { node.store.close() }
  }

  /// Called once, with the reason, when the disk failed: nothing more is acknowledged, and the process should end.
  public func onFailure(_ action: @escaping @Sendable (String) -> Void) {
    failure.listen(action)
  }

  /// Puts another access file in force, keys and origins, fetches published key sets again, and reads the certificate
  /// again. Sockets and streams that withdrawn credentials admitted are ended as their protocol says that credentials
  /// are not accepted; others stay.
  ///
  /// - Throws: `ServerError` when the certificate cannot be read, or when the access is not by API keys; nothing has
  ///   changed then.
  public func reload(access: AccessFile?) throws(ServerError) {
    try prepared(access).use()
  }

  /// An access file and certificate that were read and checked, and are not in force yet.
  struct PreparedAccess: Sendable {
    fileprivate let server: GraphQLServer
    fileprivate let access: AccessFile?
    fileprivate let certificate: (context: TLSServerContext, renewal: TLSServerContext.Renewal)?

    /// Puts them in force. It cannot fail.
    func use() {
      if let certificate { certificate.context.use(certificate.renewal) }
      guard let access, server.node.access.replace(access) else { return }
      if let first = server.loops.first { server.fetchKeys(on: first) }
      server.recheckAccess()
    }
  }

  /// Reads the certificate again and checks that keys may be replaced, without any effect.
  func prepared(_ access: AccessFile?) throws(ServerError) -> PreparedAccess {
    if access != nil {
      guard case .keys = configuration.access else {
        throw ServerError(.access, "The server's access is not by an access file, so that there is none to replace.")
      }
    }
    guard let context = running.withLock({ $0?.tls }) else {
      return PreparedAccess(server: self, access: access, certificate: nil)
    }
    do {
      return PreparedAccess(server: self, access: access, certificate: (context, try context.renewal()))
    } catch {
      throw ServerError(.certificate, "\(error)")
    }
  }

  /// Ends what withdrawn credentials admitted.
  private func recheckAccess() {
    for hub in loops { hub.loop.execute { hub.value.recheckAccess() } }
  }

  /// Begins to fetch the published key sets of token issuers that are new, and stops with those that are gone.
  private func fetchKeys(on hub: LoopBound<LoopServer>) {
    let issuers = node.access.tokens?.issuers ?? []
    let authorizer = node.access.authorizer
    let http = http
    let log = node.log
    var chance = SystemChance.generator()
    let seed = chance.next()
    let changed: @Sendable () -> Void = { [weak self] in self?.recheckAccess() }
    hub.loop.execute {
      hub.value.follow(issuers, http: http, log: log, chance: SeededRandom(seed: seed), keysWithdrawn: changed)
      hub.value.ask(authorizer, http: http, log: log)
    }
  }

  /// The loops that serve now.
  var loops: [LoopBound<LoopServer>] { running.withLock { $0?.hubs ?? [] } }
}
