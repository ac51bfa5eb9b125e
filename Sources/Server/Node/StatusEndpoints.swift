internal import MartletRuntime
internal import MartletStore
internal import MartletWire

/// Pages for operators: whether the server lives, whether it takes requests, and what it counts.
struct StatusEndpoints {
  private let transport: LoopTransport
  private let metrics: MetricsCollector
  private let stores: [Store]
  private let health: NodeHealth

  init(_ transport: LoopTransport, _ metrics: MetricsCollector, _ stores: [Store], _ health: NodeHealth) {
    self.transport = transport
    self.metrics = metrics
    self.stores = stores
    self.health = health
  }

  /// Without paths: the page is open to strangers.
  private static func reason(_ trouble: StoreError) -> String {
    switch trouble.code {
    case .diskFull: "the disk is full"
    case .filesGone: "the data files are gone"
    default: "the disk failed"
    }
  }

  /// - Parameter isSeparate: Whether the pages have a port of their own, which is guarded by the network: the figures
  ///   need no credentials there.
  func rows(isSeparate: Bool) -> [Endpoint] {
    var rows: [Endpoint] = []
    rows += page("/healthz") { _ in (200, "ok") }
    // A degraded node stays in rotation: it serves what is not damaged, and there may be no other.
    rows += page("/readyz") { [stores, health] transport in
      if transport.isDraining { return (503, "draining") }
      if let trouble = stores.lazy.compactMap(\.trouble).first { return (503, "no writes: \(Self.reason(trouble))") }
      let degradation = health.degradation(firstRetained: stores.map(\.position.firstRetained).min() ?? 0)
      return (200, degradation.map { "degraded: \($0)" } ?? "ready")
    }
    if let path = PathPattern("/metrics") {
      rows.append(
        Endpoint(
          path, methods: ["GET"], isShedWhenLate: false, bodyBytes: { _ in 0 },
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

  private func page(_ path: String, _ text: @escaping (LoopTransport) -> (status: Int, text: String)) -> [Endpoint] {
    guard let path = PathPattern(path) else { return [] }
    return [
      Endpoint(
        path, methods: ["GET", "HEAD"], isShedWhenLate: false, bodyBytes: { _ in 0 }, admission: { _ in .open },
        respond: { [unowned transport] _, responder in
          let page = text(transport)
          responder.send(.text(page.status, page.text))
        })
    ]
  }
}
