internal import MartletChangeFeed
package import MartletRuntime
internal import MartletStore

/// What one loop of the server holds: its connections, its sessions and its feed of the log.
///
/// Confined to its loop.
package final class LoopServer {
  package let node: ServerNode
  package let loop: any Loop
  package let counters = LoopTally()
  /// The loop's connections.
  package let transport: LoopTransport
  /// The loop's view of the store's log.
  package let feed: Feed
  private let service: GraphQLService
  /// The tree as this loop serves it.
  let tree: TreeService?
  let metrics: MetricsCollector

  package init(_ node: ServerNode, on loop: any Loop, metrics: MetricsCollector) {
    self.node = node
    self.loop = loop
    self.metrics = metrics
    feed = Feed(node.store, on: loop, counters, limits: FeedLimits(node.limits), sharing: node.evaluations)
    let admission = Admission(
      node.access, node.onConnect, on: loop, spawner: node.spawner, timeout: node.limits.query.operationTimeout,
      calendar: node.calendar)
    transport = LoopTransport(on: loop, node.limits, admission, counters, node.log, node.calendar)
    service = GraphQLService(node, on: loop, transport, feed, counters)
    let graphQL = GraphQLEndpoint(service)
    let programs = node.endpoints.map { $0.row(on: loop, node.spawner) }
    let status = StatusEndpoints(transport, metrics, node.store, node.health)
    if let policy = node.tree {
      tree = TreeService(
        node.store, policy, on: loop, feed.destination, access: node.access, calendar: node.calendar,
        limits: node.limits.tree)
    } else {
      tree = nil
    }
    let trees = tree.map { TreeEndpoints($0, admission, bodyBytes: node.limits.tree.writeBytes).rows } ?? []
    transport.table = EndpointTable(graphQL.rows + status.rows + programs + trees)
    if let tree { feed.onBatch = { [weak tree] batch in tree?.apply(batch) } }
    feed.onDamage = { [log = node.log, health = node.health] damage in
      health.degrade("the change log is damaged at offset \(damage.offset)")
      log.write(
        .error, "The change log cannot be read.", [(.offset, "\(damage.offset)"), (.reason, damage.reason)])
    }
  }

  /// Begins to follow the store. On the loop, before the first connection.
  package func start() {
    metrics.follow(LoopBound(self, on: loop))
    feed.start()
  }

  /// Ends following.
  package func stop() {
    feed.stop()
    // The rows hold the services that hold the transport.
    transport.table = EndpointTable([])
  }

  /// The sessions of all clients, oldest first.
  var sessions: [any LoopSession] { service.sessionsInOrder + (tree?.sessionsInOrder ?? []) }

  /// What the loop holds now.
  var gauges: MetricsCollector.Gauges {
    MetricsCollector.Gauges(
      connections: transport.connections.count, sessions: sessions.count(where: \.isSocket),
      streams: sessions.count { !$0.isSocket }, subscriptions: feed.index.memberCount,
      groups: feed.index.groupCount, scannedFilters: feed.index.scannedPredicateCount,
      pendingBytes: transport.pendingBytes)
  }
}
