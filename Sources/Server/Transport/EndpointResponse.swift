internal import MartletRuntime
internal import MartletWire

/// The answer to a request of an endpoint of the program's own: whole, or a head, pieces and an end.
public final class EndpointResponse: Sendable {
  private let exchange: LoopBound<EndpointExchange>

  init(_ exchange: LoopBound<EndpointExchange>) {
    self.exchange = exchange
  }

  /// Sends a whole response. Suspends until it is on its way.
  ///
  /// The first answer counts; later ones are ignored. `Content-Length`, `Date` and `Connection` are the server's.
  public func send(_ status: Int, headers: [(String, String)] = [], body: [UInt8] = []) async {
    await onLoop { $0.send(status, headers, body) }
  }

  /// Sends the head of a response whose body comes in pieces.
  public func start(_ status: Int = 200, headers: [(String, String)] = []) async {
    await onLoop { $0.start(status, headers) }
  }

  /// Sends a piece of the body. Suspends while the client has too much to read.
  ///
  /// - Returns: false when the client has left.
  @discardableResult
  public func write(_ piece: [UInt8]) async -> Bool {
    await withCheckedContinuation { continuation in
      exchange.loop.execute { [exchange] in exchange.value.write(piece) { continuation.resume(returning: $0) } }
    }
  }

  /// Ends the body. An answer that was started is also ended when the handler returns.
  public func finish() async {
    await onLoop { $0.finish() }
  }

  private func onLoop(_ body: @escaping @Sendable (EndpointExchange) -> Void) async {
    await withCheckedContinuation { continuation in
      exchange.loop.execute { [exchange] in
        body(exchange.value)
        continuation.resume()
      }
    }
  }
}

/// One request to an endpoint of the program's own, under way. Confined to its loop.
final class EndpointExchange {
  private let responder: HTTPResponder
  private var task: SpawnedTask?
  /// Resumes the handler, which waits until the client has read.
  private var waiting: ((Bool) -> Void)?

  init(_ responder: HTTPResponder) {
    self.responder = responder
  }

  func begin(_ task: SpawnedTask) {
    self.task = task
    responder.follow(drained: { self.resume(true) }, closed: { self.leave() })
  }

  private func leave() {
    task?.cancel()
    resume(false)
  }

  private func resume(_ isThere: Bool) {
    let waiting = waiting
    self.waiting = nil
    waiting?(isThere)
  }

  func send(_ status: Int, _ headers: [(String, String)], _ body: [UInt8]) {
    guard let fields = Self.fields(headers), (200..<600).contains(status) else { return fail() }
    responder.send(status, fields, body: body)
  }

  func start(_ status: Int, _ headers: [(String, String)]) {
    guard let fields = Self.fields(headers), (200..<600).contains(status) else { return fail() }
    // A response without a body has no pieces either.
    guard !HTTPResponseHead(status: status).hasNoBody(answering: responder.request.method) else {
      return responder.send(status, fields)
    }
    responder.start(status, fields)
  }

  func write(_ piece: [UInt8], _ done: @escaping (Bool) -> Void) {
    guard responder.isOpen, !responder.isWaiting else { return done(false) }
    if responder.write(piece) { done(true) } else { waiting = done }
  }

  func finish() {
    responder.finish()
  }

  /// The handler has returned.
  func ended() {
    if responder.isWaiting { fail() } else { responder.finish() }
  }

  private func fail() {
    responder.send(.error(500, "Internal error.", "INTERNAL"))
  }

  /// Nil when a field cannot be sent, or is the server's own.
  private static func fields(_ headers: [(String, String)]) -> HTTPHeaders? {
    var fields = HTTPHeaders()
    for (name, value) in headers {
      let (name, value) = (Array(name.utf8)[...], Array(value.utf8)[...])
      guard HTTPSyntax.isToken(name), HTTPSyntax.isFieldValue(value),
        !framing.contains(where: { HTTPSyntax.equals(name, $0) })
      else { return nil }
      fields.append(name: name, value: value)
    }
    return fields
  }

  private static let framing: [StaticString] = ["content-length", "transfer-encoding", "connection", "date", "upgrade"]
}

extension ServerEndpoint {
  /// The endpoint as a row of a loop's table.
  func row(on loop: any Loop, _ spawner: any Spawner) -> Endpoint {
    let (handler, access, bodyBytes) = (handler, access, bodyBytes)
    return Endpoint(
      path, meaning: "an endpoint of this program", methods: methods, sharing: sharesOrigins ? .configured : .none,
      countsRequests: true, bodyBytes: { _ in bodyBytes },
      admission: { _ in access == .open ? .open : .identified(.http) },
      respond: { request, responder in
        let exchange = LoopBound(EndpointExchange(responder), on: loop)
        let asked = EndpointRequest(request)
        let task = spawner.spawn {
          let response = EndpointResponse(exchange)
          try? await handler(asked, response)
          exchange.loop.execute { exchange.value.ended() }
        }
        exchange.value.begin(task)
      })
  }
}
