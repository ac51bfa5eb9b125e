import Foundation
import Martlet
import MartletRuntime
import MartletSimulation
import MartletTesting
import MartletWire
import Testing

/// Every way a subscription can travel. `resuming` is `graphql-transport-ws` with a server that gives cursors.
enum Travel: CaseIterable {
  case resuming, graphqlTransportWS, graphqlWS, appSync, multipart, eventStream

  var isHTTP: Bool {
    switch self {
    case .resuming, .graphqlTransportWS, .graphqlWS, .appSync: false
    case .multipart, .eventStream: true
    }
  }

  func world() throws -> any DialectWorld {
    switch self {
    case .resuming, .graphqlTransportWS, .graphqlWS, .appSync: try SocketWorld(self)
    case .multipart, .eventStream: try HTTPWorld(self)
    }
  }
}

/// One client and one scripted server, whatever lies between. Touched from one thread, outside the executor's runs.
protocol DialectWorld {
  var executor: SimulatedExecutor { get }
  /// Connections made so far.
  var attempts: Int { get }
  func subscribe() throws -> SubscriptionStream<SubscriptionEvent>
  /// Lets the connection come about, up to where the server would say that the subscription is live.
  func connect()
  /// The server says that it is live, as far as its dialect knows such a thing.
  func confirm()
  func event()
  func drop()
  /// Every later attempt fails.
  func closeDoor()
  /// False where there is no such thing.
  func pause() -> Bool
  func resume() -> Bool
  func complete()
  func fail()
  /// Whether the server has been notified that the client ended the subscription.
  var heardEnd: Bool { get }
}

extension DialectWorld {
  func run(_ duration: Duration = .milliseconds(1)) { executor.run(for: duration) }
}

struct SocketWorld: DialectWorld {
  let travel: Travel
  let stage: Stage

  init(_ travel: Travel) throws {
    self.travel = travel
    stage =
      switch travel {
      case .graphqlWS: try OlderDialect.graphqlWS.stage()
      case .appSync: try OlderDialect.appSync.stage()
      case .resuming, .graphqlTransportWS, .multipart, .eventStream: try Stage()
      }
    if travel == .resuming { stage.server.acknowledgement = ["martlet": ["cursors": true]] }
  }

  var executor: SimulatedExecutor { stage.executor }
  var attempts: Int { stage.server.attempts.count }
  func subscribe() throws -> SubscriptionStream<SubscriptionEvent> { stage.subscribe() }
  func connect() { run() }

  func confirm() {
    switch travel {
    case .resuming: stage.onLoop { $0.socket?.say(#"{"id":"1","type":"ready","cursor":"a-4"}"#) }
    case .appSync: OlderDialect.appSync.confirm(1...1, stage)
    case .graphqlTransportWS, .graphqlWS, .multipart, .eventStream: break
    }
  }

  func event() {
    let isNewer = travel == .resuming || travel == .graphqlTransportWS
    let cursor = travel == .resuming ? #","cursor":"a-5""# : ""
    let type = isNewer ? "next" : "data"
    stage.onLoop { $0.socket?.say(#"{"id":"1","type":"\#(type)","payload":{"data":{"tick":1}}\#(cursor)}"#) }
  }

  func drop() { stage.onLoop { $0.socket?.cut() } }
  func closeDoor() { stage.server.door = .refuses() }

  func pause() -> Bool {
    stage.connection.pause()
    run()
    return true
  }

  func resume() -> Bool {
    stage.connection.resume()
    run()
    return true
  }

  func complete() { stage.onLoop { $0.socket?.complete("1") } }

  func fail() {
    let isNewer = travel == .resuming || travel == .graphqlTransportWS
    let payload = isNewer ? #"[{"message":"no"}]"# : #"{"message":"no"}"#
    stage.onLoop { $0.socket?.say(#"{"id":"1","type":"error","payload":\#(payload)}"#) }
  }

  var heardEnd: Bool {
    let last = stage.server.sockets.last?.received.last ?? ""
    return last == #"{"id":"1","type":"complete"}"# || last == #"{"id":"1","type":"stop"}"#
  }
}

/// An HTTP server that answers each request with a stream.
///
/// `@unchecked Sendable` because it is touched only inside the executor's pump, or between its runs.
final class HTTPWorld: DialectWorld, HTTPExchanging, @unchecked Sendable {
  let travel: Travel
  let executor = SimulatedExecutor(seed: 1)
  private let loop: SimulatedLoop
  private var transport: RequestChainNetworkTransport?
  private var handler: (any HTTPExchangeHandler)?
  private(set) var requests: [HTTPExchangeRequest] = []
  private(set) var heardEnd = false
  private var isClosed = false
  var attempts: Int { requests.count }

  init(_ travel: Travel) throws {
    self.travel = travel
    loop = executor.makeLoop("client")
    var configuration = ConnectionConfiguration()
    configuration.subscriptionMediaType = travel == .eventStream ? .eventStream : .multipart
    let environment = ClientEnvironment(
      loop: loop, sockets: NoSockets(), http: self, requests: .none, spawner: executor.spawner, seed: 1)
    transport = RequestChainNetworkTransport(
      interceptorProvider: DefaultInterceptorProvider(store: GraphQLStore()),
      endpointURL: try #require(URL(string: "http://server.test/graphql")), configuration: configuration,
      environment: environment)
  }

  func start(_ request: HTTPExchangeRequest, on loop: any Loop, handler: any HTTPExchangeHandler) -> HTTPExchange {
    requests.append(request)
    if isClosed {
      loop.schedule(at: loop.now) { handler.ended(HTTPExchangeError(.connect, "refused")) }
      return HTTPExchange(cancelling: {}, pausing: { _ in })
    }
    self.handler = handler
    return HTTPExchange(
      cancelling: { [weak self] in
        self?.heardEnd = true
        self?.handler = nil
      }, pausing: { _ in })
  }

  private func say(_ text: String) {
    loop.execute { [self] in handler?.received(body: Array(text.utf8).span.bytes) }
    run()
  }

  func subscribe() throws -> SubscriptionStream<SubscriptionEvent> {
    let core = SubscriptionCore(BufferPolicy())
    let request = OperationRequest(.subscription, document: "subscription { tick }")
    try transport?.subscribe(request, feeding: SubscriptionFeed(core))
    return SubscriptionStream(core: core) { $0 }
  }

  func connect() {
    run()
    let type = travel == .eventStream ? "text/event-stream" : "multipart/mixed;boundary=graphql;subscriptionSpec=1.0"
    loop.execute { [self] in
      handler?.received(
        head: HTTPExchangeHead(status: 200, headers: [(name: "Content-Type", value: type)], majorVersion: 1))
    }
    run()
  }

  private func part(_ body: String) -> String { "\r\nContent-Type: application/json\r\n\r\n\(body)\r\n--graphql" }

  func confirm() { say(travel == .eventStream ? ":\n\n" : "--graphql" + part("{}")) }

  func event() {
    let payload = #"{"data":{"tick":1}}"#
    say(travel == .eventStream ? "event: next\ndata: \(payload)\n\n" : part("{\"payload\":\(payload)}"))
  }

  func drop() {
    loop.execute { [self] in
      let told = handler
      handler = nil
      told?.ended(HTTPExchangeError(.response, "cut"))
    }
    run()
  }

  func closeDoor() { isClosed = true }
  func pause() -> Bool { transport is any ConnectedNetworkTransport }
  func resume() -> Bool { transport is any ConnectedNetworkTransport }
  func complete() { say(travel == .eventStream ? "event: complete\ndata:\n\n" : "--\r\n") }

  func fail() {
    let errors = #""errors":[{"message":"no"}]"#
    say(
      travel == .eventStream
        ? "event: next\ndata: {\(errors)}\n\nevent: complete\ndata:\n\n" : part("{\"payload\":null,\(errors)}"))
  }

  private struct NoSockets: MessageSocketConnector {
    func open(
      _ request: MessageSocketRequest, on loop: any Loop, handler: any MessageSocketHandler,
      completion: @escaping (Result<Opened, MessageSocketFailure>) -> Void
    ) -> ConnectAttempt {
      Issue.record("a subscription by HTTP opened a socket")
      return ConnectAttempt {}
    }
  }
}
