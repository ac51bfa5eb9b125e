internal import MartletChangeFeed
internal import MartletModelSDL
internal import MartletModels
package import MartletRuntime
internal import MartletStore
internal import MartletVocabulary

/// What one loop of the server holds: its connections, and for each store its sessions and its feed of the log.
///
/// Confined to its loop.
package final class LoopServer {
  package let node: ServerNode
  package let loop: any Loop
  package let counters = LoopTally()
  /// The loop's connections.
  package let transport: LoopTransport
  /// Connections to the administration's port, where there is one.
  let administration: LoopTransport?
  /// GraphQL on each store; the first is the server's first store.
  let services: [GraphQLService]
  /// Webhooks and push; on one loop of a server.
  private(set) var channels: ChannelService?
  private let desk: ChannelDesk?
  /// The trees as this loop serves them.
  let trees: LoopTrees?
  /// Fetch key sets of token issuers; on one loop of a server.
  private var keySets: [(issuer: IssuerKeys, driver: KeySetDriver)] = []
  /// Asks the custom authorizer; on one loop of a server.
  private var authorizer: (desk: AuthorizerDesk, driver: AuthorizerDriver)?
  let metrics: MetricsCollector
  /// The end of the server, once it has begun.
  var ending: ServerEnding?

  /// - Parameters:
  ///   - node: The server's first store.
  ///   - others: Its further stores.
  ///   - desk: Leads to the channels, where there are any.
  package init(
    _ node: ServerNode, _ others: [ServerNode] = [], on loop: any Loop, metrics: MetricsCollector,
    channels desk: ChannelDesk? = nil
  ) {
    self.desk = desk
    self.node = node
    self.loop = loop
    self.metrics = metrics
    let counters = self.counters
    let admission = Admission(
      node.access, node.onConnect, on: loop, spawner: node.spawner, timeout: node.limits.query.operationTimeout,
      calendar: node.calendar)
    let transport = LoopTransport(
      on: loop, node.limits, admission, counters, node.log, node.calendar, callers: node.callers,
      trustedProxies: node.trustedProxies, audit: node.audit)
    let services = ([node] + others).map { node in
      let feed = Feed(
        node.store, on: loop, counters, limits: FeedLimits(node.limits), sharing: node.evaluations)
      if let tracer = node.tracer {
        feed.deliveries.onDone = { [store = node.store] in tracer.delivered($0, of: store) }
      }
      return GraphQLService(node, on: loop, transport, feed, counters)
    }
    self.transport = transport
    let programs = node.endpoints.map { $0.row(on: loop, node.spawner) }
    let status = StatusEndpoints(transport, metrics, services.map(\.node))
    let graphQL = services.flatMap { GraphQLEndpoints($0).rows }
    let tree = node.tree.map { policy in
      TreeService(
        node.store, policy, node.leases, on: loop, services[0].feed.destination, access: node.access,
        calendar: node.calendar, limits: node.limits.tree, log: node.log,
        records: { [weak node] in node.flatMap { RecordTree($0.served) } })
    }
    let trees = tree.map { LoopTrees($0, node.namespaces, access: node.access) }
    self.trees = trees
    let treeRows = trees.map { TreeEndpoints($0, transport, bodyBytes: node.limits.tree.writeBytes).rows } ?? []
    // With a port of its own, the server's port does not serve the status.
    if node.separatesStatus {
      let own = LoopTransport(
        on: loop, node.limits, admission, counters, node.log, node.calendar, callers: node.callers, audit: node.audit)
      own.table = EndpointTable(status.rows(isSeparate: true))
      administration = own
    } else {
      administration = nil
    }
    let channelRows =
      desk.map {
        ChannelEndpoints($0, on: loop, bodyBytes: node.limits.channels.definitionBytes).rows
      } ?? []
    let pages = node.separatesStatus ? [] : status.rows(isSeparate: false)
    var signInRows: [Endpoint] = []
    if node.access.signIn != nil {
      let bytes = node.limits.tree.strangerMessageBytes
      signInRows = SignInEndpoint(transport: transport, calendar: node.calendar, bodyBytes: bytes).rows
    }
    let rows: [[Endpoint]] = [graphQL, pages, channelRows, signInRows, treeRows]
    transport.table = Self.table(Array(rows.joined()), programs, node, loop, metrics)
    self.services = services
    services[0].tree = tree
    for (index, service) in services.enumerated() {
      let tree = index == 0 ? tree : nil
      service.feed.onBatch = { [weak service, weak tree, weak self] batch in
        tree?.apply(batch)
        if index == 0 { self?.channels?.apply(batch) }
        if let service { Invalidator(service: service).apply(batch) }
      }
    }
  }

  /// The server's own paths come first, then the program's, then the page at `/`.
  private static func table(
    _ own: [Endpoint], _ programs: [Endpoint], _ node: ServerNode, _ loop: any Loop, _ metrics: MetricsCollector
  ) -> EndpointTable {
    let access = ConsoleAccess(schema: { node.schema }, isDevelopment: node.access.isDevelopment)
    let console = ConsoleEndpoints(
      loop: loop, access: access, snapshot: { metrics.snapshot($0) },
      state: {
        ConsoleState(
          models: node.models, store: node.store, isDevelopment: access.isDevelopment, limits: node.limits.console)
      })
    let paths = EndpointTable(own + console.rows + programs)
    let page = ServerPage(
      table: paths, schema: { node.models.schema },
      models: { node.models.models.map(\.name) }, access: access, isSecure: node.isSecure)
    return EndpointTable(own + console.rows + programs + page.rows)
  }

  /// The loop's view of the first store's log.
  package var feed: Feed { services[0].feed }

  /// Begins to follow the stores. On the loop, before the first connection.
  package func start() {
    metrics.follow(LoopBound(self, on: loop))
    for service in services { service.feed.start() }
    trees?.first.begins(after: services[0].feed.applied)
  }

  /// Fetches the published key sets of these issuers from now on, and of no others. Those that were fetched before are
  /// fetched again, so that a key which was withdrawn there can be put out of force at once.
  func follow(
    _ issuers: [IssuerKeys], http: any HTTPExchanging, log: Log, chance: SeededRandom,
    keysWithdrawn: @escaping @Sendable () -> Void
  ) {
    keySets = keySets.filter { known in
      if issuers.contains(where: { $0 === known.issuer }) {
        known.driver.refresh()
        return true
      }
      known.issuer.attach(nil)
      known.driver.stop()
      return false
    }
    let surroundings = OutgoingSurroundings(loop: loop, http: http, log: log)
    for issuer in issuers where !keySets.contains(where: { $0.issuer === issuer }) {
      guard let driver = KeySetDriver(issuer, surroundings, chance: chance, keysWithdrawn: keysWithdrawn) else {
        continue
      }
      keySets.append((issuer, driver))
      issuer.attach(LoopBound(driver, on: loop))
      driver.start()
    }
  }

  /// Asks this custom authorizer from now on, and no other.
  func ask(_ desk: AuthorizerDesk?, http: any HTTPExchanging, log: Log) {
    if authorizer?.desk === desk { return }
    authorizer?.desk.attach(nil)
    authorizer?.driver.stop()
    authorizer = desk.map { desk in
      let driver = AuthorizerDriver(
        desk, OutgoingSurroundings(loop: loop, http: http, log: log), calendar: node.calendar)
      desk.attach(LoopBound(driver, on: loop))
      return (desk, driver)
    }
  }

  /// Begins to deliver to webhooks and devices, where they are configured.
  func deliverChannels(over http: (ChannelSettings) -> any HTTPExchanging) {
    guard let settings = node.channels, channels == nil else { return }
    let channels = ChannelService(settings, services[0], http(settings))
    self.channels = channels
    desk?.attach(channels)
    channels.start()
  }

  /// Ends following.
  package func stop() {
    if let channels {
      desk?.attach(nil)
      channels.stop()
    }
    channels = nil
    authorizer?.desk.attach(nil)
    authorizer?.driver.stop()
    authorizer = nil
    for service in services { service.feed.stop() }
    trees?.stop()
    for (issuer, driver) in keySets {
      issuer.attach(nil)
      driver.stop()
    }
    keySets = []
    // The rows hold the services that hold the transport.
    transport.table = EndpointTable([])
    administration?.table = EndpointTable([])
    for connection in administration?.connectionsInOrder ?? [] { connection.abort() }
  }

  /// The sessions of all clients, oldest first.
  var sessions: [any LoopSession] {
    let sessions =
      services.count == 1
      ? services[0].sessionsInOrder : services.flatMap(\.sessionsInOrder).sorted { $0.serial < $1.serial }
    return sessions + (trees?.services ?? []).flatMap(\.sessionsInOrder)
  }

  /// What the loop holds now.
  var gauges: LoopGauges {
    let sessions = sessions
    let indexes = services.map(\.feed.index)
    return LoopGauges(
      connections: transport.connections.count, sessions: sessions.count(where: \.isSocket),
      streams: sessions.count { !$0.isSocket }, subscriptions: indexes.reduce(0) { $0 + $1.memberCount },
      groups: indexes.reduce(0) { $0 + $1.groupCount },
      scannedFilters: indexes.reduce(0) { $0 + $1.scannedPredicateCount }, pendingBytes: transport.pendingBytes,
      membersCatchingUp: services.reduce(0) { $0 + $1.feed.membersCatchingUp },
      delays: services.reduce(into: [:]) { sum, service in
        for (name, delays) in service.meters.delays { sum[name, default: Histogram(delays.bounds)].add(delays) }
      })
  }

  // MARK: Changes while serving

  /// Another schema is in force for a store: ends the subscriptions that mean nothing under it.
  ///
  /// - Returns: how many those were.
  func recheckSchema(of node: ServerNode) -> Int {
    defer { if node === self.node { channels?.recheckSchema() } }
    if node === self.node { trees?.first.recheckRecords() }
    return services.filter { $0.node === node }.reduce(0) { ended, service in
      // What they hold has the shape of the old models.
      service.feed.pages.forget()
      return ended + service.sessionsInOrder.reduce(0) { $0 + $1.recheckSchema() }
    }
  }

  /// Other keys are in force: ends what withdrawn ones admitted.
  func recheckAccess() {
    channels?.recheckOwners()
    let ended = sessions.reduce(0) { $0 + $1.recheckAccess() }
    guard ended > 0 else { return }
    node.log.write(
      .info, "Sockets, streams and subscriptions were ended: their key was withdrawn.", [(.count, "\(ended)")])
  }

  // MARK: Maintenance

  /// Looks every second for a request for a backup.
  private func serveBackupsPeriodically() {
    guard !transport.isDraining else { return }
    for service in services { service.node.store.serveBackupRequest() }
    for store in node.namespaces.openStores { store.serveBackupRequest() }
    loop.schedule(at: loop.now + .seconds(1)) { [weak self] in self?.serveBackupsPeriodically() }
  }

  /// Begins the periodic work on the stores: retention and backups.
  func careForStores() {
    maintainPeriodically()
    serveBackupsPeriodically()
    trees?.recoverLeases()
  }

  /// Deletes what is beyond retention from time to time, also when nothing is written.
  package func maintainPeriodically() {
    guard !transport.isDraining else { return }
    for store in services.map(\.node.store) + node.namespaces.openStores {
      store.maintain()
      TreeIndexing(store).proceed()
    }
    loop.schedule(at: loop.now + node.store.limits.maintenanceInterval) { [weak self] in self?.maintainPeriodically() }
  }
}
