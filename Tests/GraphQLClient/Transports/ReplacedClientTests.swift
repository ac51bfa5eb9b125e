import Foundation
import Martlet
import MartletTesting
import Testing

/// Other credentials: merged with a provider's, changed in place, or by another client in the old one's place.
@Suite struct ReplacedClientTests {
  private let time = VirtualTime()

  private func client(
    _ server: ScriptedServer, _ payload: JSONObject, _ configure: (inout ConnectionConfiguration) -> Void = { _ in }
  ) throws -> GraphQLClient {
    var configuration = WebSocketTransport.configuration
    configure(&configuration)
    let url = try #require(URL(string: "ws://example.test/graphql"))
    let transport = WebSocketTransport(
      websocket: WebSocket(url: url, webSocketProtocol: .graphqlWsProtocol), connectingPayload: payload,
      configuration: configuration, environment: server.environment)
    return GraphQLClient(networkTransport: transport)
  }

  @Test func `at every connection the provider's payload is merged over the fixed one`() throws {
    let server = ScriptedServer(time)
    server.acknowledgement = nil
    let client = try client(server, ["authToken": "fixed", "app": "board"]) {
      $0.credentials = { reason in Credentials(payload: ["authToken": .string("\(reason)")]) }
    }
    let payloads = try time.run {
      let stream = client.subscribe("subscription { tick }")
      var payloads: [JSONValue?] = []
      for _ in 1...2 {
        let socket = try await server.accept()
        var payload = try await socket.expect("connection_init")["payload"]?.object
        payload?["martlet"] = nil
        payloads.append(payload.map { .object($0) })
        socket.send(["type": "connection_ack"])
        try await socket.expect("subscribe")
        socket.next("1", data: 1)
        socket.cut()
      }
      _ = stream.state
      return payloads
    }
    #expect(
      payloads == [
        ["authToken": "connecting(attempt: 1)", "app": "board"],
        ["authToken": "connecting(attempt: 2)", "app": "board"],
      ])
  }

  /// What a consumer does that lives longer than one client: it keeps the last cursor.
  private static func read(
    _ stream: SubscriptionStream<GraphQLResponse<JSONValue>>, _ texts: Recorder<String>
  ) async -> Cursor? {
    var place: Cursor?
    do {
      for try await result in stream {
        texts.add(result.gap == nil ? "\(result.data ?? .null)" : "gap")
        place = result.cursor ?? place
      }
      texts.add("\(stream.state)")
    } catch { texts.add("\(error)") }
    return place
  }

  @Test func `a replaced client's subscriptions end as cancelled, and the new one's continue after their cursors`()
    throws
  {
    let server = ScriptedServer(time)
    server.acknowledgement = ["martlet": ["cursors": true]]
    let old = try client(server, ["authToken": "old"])
    let new = try client(server, ["authToken": "new"])
    let texts = Recorder<String>()
    let resumed = try time.run {
      let stream = old.subscribe("subscription { tick }")
      async let place = Self.read(stream, texts)
      let first = try await server.accept()
      try await first.expect("subscribe")
      first.send(["id": "1", "type": "ready", "cursor": "a-4"])
      first.next("1", data: 5, cursor: "a-5")
      await time.sleep(for: .milliseconds(1))
      old.shutDown()
      // What the old server's socket still delivers is dropped.
      first.next("1", data: 6, cursor: "a-6")
      try await first.expectClose()
      let again = new.subscribe("subscription { tick }", from: SubscriptionStart(after: await place))
      async let end = Self.read(again, texts)
      let second = try await server.accept()
      let resume = try await second.expect("subscribe")["payload"]?["extensions"]?["martlet"]?["resume"]?.string
      second.send(["id": "1", "type": "ready", "cursor": "a-5"])
      second.next("1", data: 6, cursor: "a-6")
      second.complete("1")
      _ = await end
      return resume
    }
    #expect(resumed == "a-5")
    #expect(texts.all == ["5", "finished(cancelled)", "6", "finished(completed)"])
  }

  @Test func `dropping the last reference to a client is such an end too`() throws {
    let server = ScriptedServer(time)
    var old: GraphQLClient? = try client(server, [:])
    let stream = try #require(old?.subscribe("subscription { tick }"))
    try time.run { try await stream.ready() }
    old = nil
    time.advance(by: .milliseconds(1))
    #expect(stream.state.description == "finished(cancelled)" && server.socket?.clientClose?.code == 1000)
    let error = try time.run {
      do {
        try await stream.ready()
        return "ready"
      } catch { return "\(error)" }
    }
    #expect(error == "CancellationError()")
  }
}
