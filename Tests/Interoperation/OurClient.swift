import Foundation
import Martlet
import MartletJSON
import MartletTestSupport

extension Row {
  /// A client of this package that speaks the row's protocol.
  func client(_ server: ForeignServer, as dialect: String? = nil) throws -> GraphQLClient {
    guard let socket = URL(string: "ws://127.0.0.1:\(server.port)/graphql"),
      let http = URL(string: "http://127.0.0.1:\(server.port)/graphql")
    else { throw Peers.Failed(description: "no URL") }
    let dialect = dialect ?? self.dialect
    var configuration = WebSocketTransport.configuration
    configuration.reconnect.firstDelay = .milliseconds(50)
    configuration.reconnect.longestDelay = .milliseconds(200)
    configuration.reconnect.attempts = 400
    let store = GraphQLStore()
    switch dialect {
    case "transport-ws", "legacy":
      let webSocket = WebSocket(
        url: socket, webSocketProtocol: dialect == "legacy" ? .subscriptionWsProtocol : .graphqlWsProtocol)
      return GraphQLClient(
        networkTransport: WebSocketTransport(websocket: webSocket, configuration: configuration), store: store)
    default:
      configuration.subscriptionMediaType = dialect == "sse" ? .eventStream : .multipart
      return GraphQLClient(
        networkTransport: RequestChainNetworkTransport(
          interceptorProvider: DefaultInterceptorProvider(store: store), endpointURL: http,
          configuration: configuration), store: store)
    }
  }

  /// The peer as the server of our client.
  func asServer() async -> Outcome {
    var outcome = Outcome()
    do {
      let server = try await ForeignServer(peer)
      let client = try client(server)
      await values(client, &outcome)
      await outcome.note(.errors) { try await errors(client) }
      await outcome.note(.cancellation) { try await cancellation(client, asking: try self.client(server, as: "http")) }
      if checks.contains(.requests) { await outcome.note(.requests) { try await Self.requests(client) } }
      client.shutDown()
      server.kill()
      await outcome.note(.reconnect) {
        if ["transport-ws", "legacy"].contains(dialect) { try await acrossDeath() } else { try await endedByDeath() }
      }
    } catch {
      outcome.failures.append("\(error)")
    }
    return outcome
  }

  private func values(_ client: GraphQLClient, _ outcome: inout Outcome) async {
    let stream = client.subscribe("subscription { tick(upTo: 3) }")
    var seen: [Int64?] = []
    await outcome.note(.completion) {
      for try await event in stream { seen.append(event.data?["tick"]?.int) }
      try expect(stream.state.description == "finished(completed)", stream.state.description)
    }
    outcome.note(.values, seen == [1, 2, 3], "\(seen)")
  }

  /// Values and messages of errors of a subscription, wherever its server put them.
  private func heard(_ document: String, _ client: GraphQLClient) async throws -> (values: [Int64], messages: String) {
    var values: [Int64] = []
    var messages: [String] = []
    do {
      for try await event in client.subscribe(document) {
        if let value = event.data?["tick"]?.int { values.append(value) }
        messages += event.errors.compactMap { $0["message"]?.string }
      }
    } catch let error as GraphQLClientError {
      messages += error.errors.compactMap { $0["message"]?.string }
    }
    return (values, messages.joined(separator: "\n"))
  }

  private func errors(_ client: GraphQLClient) async throws {
    let failing = try await heard("subscription { tick(upTo: 3, failAt: 2) }", client)
    try expect(failing.values == [1] && failing.messages.contains("failed at 2"), "\(failing)")
    let refused = try await heard("subscription { nothing }", client)
    try expect(refused.values == [] && refused.messages.contains("nothing"), "\(refused)")
  }

  private func cancellation(_ client: GraphQLClient, asking: GraphQLClient) async throws {
    func running() async throws -> Int64? { try await asking.query("{ running }").data?["running"]?.int }
    let stream = client.subscribe("subscription { forever }")
    var seen: [Int64?] = []
    for try await event in stream {
      seen.append(event.data?["forever"]?.int)
      if seen.count == 2 {
        let count = try await running()
        try expect(count == 1, "\(String(describing: count)) sources run")
        break
      }
    }
    try expect(seen == [1, 2], "\(seen)")
    stream.cancel()
    while try await running() != 0 { await Task.yield() }
    try expect(stream.state.description == "finished(cancelled)", stream.state.description)
  }

  static func requests(_ client: GraphQLClient) async throws {
    let hello = try await client.query("query Hello($name: String!) { hello(name: $name) }", variables: ["name": "you"])
    try expect(hello.data?["hello"] == "hello you", "\(hello)")
    let failed = try await client.query("{ fails }")
    try expect(failed.data?["fails"]?.isNull == true && failed.errors.first?["message"] == "it failed", "\(failed)")
    let said = try await client.mutate(#"mutation { say(text: "so") }"#)
    try expect(said.data?["say"] == "said so", "\(said)")
  }

  /// The subscription continues with the server's successor, and says that events may be missing.
  private func acrossDeath() async throws {
    let first = try await ForeignServer(peer)
    let client = try client(first)
    let stream = client.subscribe("subscription { forever }")
    var iterator = stream.makeAsyncIterator()
    _ = try await iterator.next()
    first.kill()
    let second = try await ForeignServer(peer, port: first.port)
    var gap: EventGap?
    while gap == nil { gap = try await iterator.next()?.gap }
    try expect(gap?.reason == .serverCannotResume, "\(String(describing: gap))")
    let next = try await iterator.next()?.data?["forever"]?.int
    try expect(next == 1, "\(String(describing: next))")
    client.shutDown()
    second.kill()
  }

  /// By HTTP a subscription ends with its connection, and the error is not a completion.
  private func endedByDeath() async throws {
    let server = try await ForeignServer(peer)
    let client = try client(server)
    var iterator = client.subscribe("subscription { forever }").makeAsyncIterator()
    _ = try await iterator.next()
    server.kill()
    do {
      while try await iterator.next() != nil {}
    } catch let error as GraphQLClientError {
      return try expect(error.code == .connectionLost, "\(error)")
    }
    throw Peers.Failed(description: "the loss was told as a completion")
  }
}
