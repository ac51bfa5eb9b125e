internal import MartletRuntime
internal import MartletStore
internal import MartletWire

/// Pages for operators: whether the server lives, whether it takes requests, and what it counts.
struct StatusEndpoints {
  private let transport: LoopTransport
  private let metrics: MetricsCollector
  /// One for each store, the first store's first.
  private let nodes: [ServerNode]

  init(_ transport: LoopTransport, _ metrics: MetricsCollector, _ nodes: [ServerNode]) {
    self.transport = transport
    self.metrics = metrics
    self.nodes = nodes
  }

  /// Why a store takes no writes, without the folder's path: the page is open to strangers.
  private static func reason(_ trouble: StoreError) -> String {
    switch trouble.code {
    case .diskFull: "the disk is full"
    case .filesGone: "the data files are gone"
    default: "the disk failed"
    }
  }

  /// The status and the text of `/readyz`, with every reason. A node that takes no writes is out of rotation; one whose
  /// log is damaged stays in it: it serves what is not damaged, and there may be no other.
  private static func readiness(_ nodes: [ServerNode]) -> (status: Int, text: String) {
    var refusing: [String] = []
    var damaged: [String] = []
    for node in nodes {
      add(node.store, node.path.isEmpty ? "" : " in \(node.path)", &refusing, &damaged)
      // Without its name, which a stranger need not learn.
      for store in node.namespaces.openStores { add(store, " in a namespace", &refusing, &damaged) }
    }
    let reasons = refusing + damaged
    return (refusing.isEmpty ? 200 : 503, reasons.isEmpty ? "ready" : "degraded: " + reasons.joined(separator: "; "))
  }

  private static func add(
    _ store: Store, _ place: String, _ refusing: inout [String], _ damaged: inout [String]
  ) {
    if let trouble = store.trouble { refusing.append("no writes\(place): \(reason(trouble))") }
    if let offset = store.damagedOffset { damaged.append("the change log\(place) is damaged at offset \(offset)") }
  }

  /// - Parameter isSeparate: Whether the pages have a port of their own, which is guarded by the network: the figures
  ///   need no credentials there.
  func rows(isSeparate: Bool) -> [Endpoint] {
    var rows: [Endpoint] = []
    rows += page("/healthz", meaning: "whether the process lives") { _ in (200, "ok") }
    rows += page("/readyz", meaning: "whether it takes requests") { [nodes] transport in
      transport.isDraining ? (503, "draining") : Self.readiness(nodes)
    }
    if let path = PathPattern("/metrics") {
      rows.append(
        Endpoint(
          path, meaning: "counters for Prometheus", methods: ["GET"], isShedWhenLate: false, bodyBytes: { _ in 0 },
          admission: { _ in isSeparate ? .sameOrigin : .keyed },
          respond: { [unowned transport, metrics] _, responder in
            let bound = LoopBound(responder, on: transport.loop)
            metrics.collect { text in
              bound.loop.execute {
                bound.value.send(
                  200, HTTPHeaders([("Content-Type", "text/plain; version=0.0.4; charset=utf-8")]),
                  body: Array(text.utf8))
              }
            }
          }))
    }
    return rows
  }

  private func page(
    _ path: String, meaning: String, _ text: @escaping (LoopTransport) -> (status: Int, text: String)
  ) -> [Endpoint] {
    guard let path = PathPattern(path) else { return [] }
    return [
      Endpoint(
        path, meaning: meaning, methods: ["GET", "HEAD"], isShedWhenLate: false, bodyBytes: { _ in 0 },
        admission: { _ in .open },
        respond: { [unowned transport] _, responder in
          let page = text(transport)
          responder.send(.text(page.status, page.text))
        })
    ]
  }
}
