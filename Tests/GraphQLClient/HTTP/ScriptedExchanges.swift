import Foundation
import Martlet
import MartletRuntime
import MartletSimulation
import MartletVocabulary
import Synchronization

/// HTTP whose responses a test writes, piece by piece, on a simulated loop.
///
/// `@unchecked Sendable` because it is touched only inside the executor's pump, or between its runs.
final class ScriptedExchanges: HTTPExchanging, @unchecked Sendable {
  /// One request, and how it is answered. `@unchecked Sendable` for the same reason.
  final class Exchange: @unchecked Sendable {
    let request: HTTPExchangeRequest
    private let handler: any HTTPExchangeHandler
    private(set) var isCancelled = false
    private(set) var isPaused = false
    private var isOver = false

    init(_ request: HTTPExchangeRequest, _ handler: any HTTPExchangeHandler) {
      self.request = request
      self.handler = handler
    }

    var body: JSONValue { (try? JSONValue(parsing: request.body ?? [])) ?? .null }
    func header(_ name: String) -> String? { request.headers.first { $0.name == name }?.value }

    func exchange() -> HTTPExchange {
      HTTPExchange(cancelling: { self.isCancelled = true }, pausing: { self.isPaused = $0 })
    }

    func head(_ status: Int, _ type: String = "application/json", retryAfter: String? = nil) {
      guard !isCancelled, !isOver else { return }
      var headers = [(name: "content-type", value: type)]
      if let retryAfter { headers.append((name: "Retry-After", value: retryAfter)) }
      handler.received(head: HTTPExchangeHead(status: status, headers: headers, majorVersion: 1))
    }

    func send(_ text: String) {
      guard !isCancelled, !isOver else { return }
      let bytes = Array(text.utf8)
      handler.received(body: bytes.span.bytes)
    }

    func end(_ error: HTTPExchangeError? = nil) {
      guard !isCancelled, !isOver else { return }
      isOver = true
      handler.ended(error)
    }

    func answer(
      _ status: Int, _ type: String = "application/json", _ body: String = "", retryAfter: String? = nil
    ) {
      head(status, type, retryAfter: retryAfter)
      if !body.isEmpty { send(body) }
      end()
    }

    func cut() { end(HTTPExchangeError(.response, "cut")) }
  }

  let executor: SimulatedExecutor
  let loop: SimulatedLoop
  private(set) var exchanges: [Exchange] = []
  private var starts: [Instant] = []
  /// When each request but those that carry or end an operation of a shared stream arrived; one for each time.
  var times: [Instant] {
    starts.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
  }
  /// Requests for a stream.
  var streams: Int { exchanges.count { $0.header("Accept") != nil } }
  /// Asked for each request, with its place in the order of arrival, from 1; inside the executor's pump.
  var script: (Int, Exchange) -> Void

  init(seed: UInt64 = 1, _ script: @escaping (Int, Exchange) -> Void) {
    executor = SimulatedExecutor(seed: seed)
    loop = executor.makeLoop("client")
    self.script = script
  }

  func start(_ request: HTTPExchangeRequest, on loop: any Loop, handler: any HTTPExchangeHandler) -> HTTPExchange {
    let exchange = Exchange(request, handler)
    exchanges.append(exchange)
    starts.append(loop.now)
    let number = exchanges.count
    // Nothing is reported before this returns.
    loop.execute { self.script(number, exchange) }
    return exchange.exchange()
  }

  /// Does something later, on the client's loop.
  func later(_ body: @escaping @Sendable () -> Void) { loop.execute(body) }

  func client(_ configure: (inout ConnectionConfiguration) -> Void = { _ in }) throws -> GraphQLClient {
    var configuration = ConnectionConfiguration()
    configure(&configuration)
    let network = SimulatedNetwork(executor)
    let environment = ClientEnvironment(
      loop: loop, sockets: nil, http: self,
      requests: .connections(network), spawner: executor.spawner, seed: 1)
    guard let url = URL(string: "http://server.test/graphql/stream") else { throw CancellationError() }
    return GraphQLClient(
      networkTransport: RequestChainNetworkTransport(
        interceptorProvider: DefaultInterceptorProvider(store: GraphQLStore()), endpointURL: url,
        configuration: configuration, environment: environment))
  }
}
