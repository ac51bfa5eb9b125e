internal import MartletRuntime
internal import MartletWireProtocols

/// Pages for those who run the server: whether it lives, whether it takes requests, and what it counts.
struct StatusEndpoints {
  private let transport: LoopTransport
  private let metrics: MetricsCollector

  init(_ transport: LoopTransport, _ metrics: MetricsCollector) {
    self.transport = transport
    self.metrics = metrics
  }

  var rows: [Endpoint] {
    var rows: [Endpoint] = []
    rows += page("/healthz") { _ in (200, "ok") }
    rows += page("/readyz") { $0.isDraining ? (503, "draining") : (200, "ready") }
    if let path = PathPattern("/metrics") {
      rows.append(
        Endpoint(
          path, methods: ["GET"], isShedWhenLate: false, bodyBytes: { _ in 0 }, admission: { _ in .identified },
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
