internal import MartletConsole
internal import MartletRuntime
internal import MartletWire

/// The console at `/console`: its files, and what it reads of the server besides GraphQL.
struct ConsoleEndpoints {
  /// Calls its completion with what the loops count and hold, on any of them.
  typealias Snapshot = (@escaping @Sendable (ServerCounters, LoopGauges) -> Void) -> Void

  let loop: any Loop
  let access: ConsoleAccess
  let snapshot: Snapshot
  let state: () -> ConsoleState

  /// The pages run nothing but the server's own files, and talk to no other host.
  static let policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    + "form-action 'none'; frame-ancestors 'none'"

  var rows: [Endpoint] {
    [
      row("/console", meaning: "queries, live subscriptions and the log, in this browser") { _, responder in
        guard access.isOpen else {
          return responder.send(.text(404, "The console is served where clients may ask for the schema: with --dev."))
        }
        Self.send("console.html", to: responder)
      },
      row("/console/state", admission: .identified(.http), respond: sendState),
      row("/console/{name...}") { request, responder in Self.send(request.path, to: responder) },
    ].compactMap { $0 }
  }

  private func row(
    _ path: String, meaning: String? = nil, admission: AdmissionRule = .sameOrigin,
    respond: @escaping (HTTPRequest, HTTPResponder) -> Void
  ) -> Endpoint? {
    PathPattern(path).map {
      Endpoint(
        $0, meaning: meaning, methods: ["GET", "HEAD"], isShedWhenLate: false, bodyBytes: { _ in 0 },
        admission: { _ in admission },
        respond: respond)
    }
  }

  static func send(_ name: String, to responder: HTTPResponder) {
    // A page is served under its path alone, where the conditions of the path hold.
    guard let asset = ConsoleAsset.named(name), asset.kind != .html || responder.request.path == "/console" else {
      return responder.send(.text(404, "Not found. The console is at /console."))
    }
    responder.send(200, headers(asset.contentType), body: asset.bytes)
  }

  static func headers(_ contentType: String) -> HTTPHeaders {
    HTTPHeaders([
      ("Content-Type", contentType), ("Cache-Control", "no-cache"), ("Content-Security-Policy", policy),
      ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
    ])
  }

  private func sendState(_ request: HTTPRequest, _ responder: HTTPResponder) {
    guard access.allows(request.caller) else {
      return responder.send(.error(403, "This caller may not read the server's state.", "FORBIDDEN"))
    }
    let after = request.head.query?.split(separator: "&").first { $0.hasPrefix("after=") }
      .flatMap { Int64($0.dropFirst("after=".count)) }
    let showsChanges = access.allowsChanges(request.caller)
    let bound = LoopBound((self, responder), on: loop)
    snapshot { counters, gauges in
      bound.loop.execute {
        let (endpoints, responder) = bound.value
        let body = endpoints.state().text(counters, gauges, after: after, showsChanges: showsChanges)
        responder.send(
          200, HTTPHeaders([("Content-Type", "application/json; charset=utf-8"), ("Cache-Control", "no-store")]),
          body: body)
      }
    }
  }
}
