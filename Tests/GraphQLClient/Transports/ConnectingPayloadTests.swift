import Foundation
import Martlet
import MartletTesting
import Testing

/// What a WebSocket transport connects with, through the public interface alone.
@Suite struct ConnectingPayloadTests {
  private let time = VirtualTime()

  private func stage() throws -> (ScriptedServer, WebSocketTransport, GraphQLClient) {
    let server = ScriptedServer(time)
    let url = try #require(URL(string: "ws://example.test/graphql"))
    let transport = WebSocketTransport(
      websocket: WebSocket(url: url, webSocketProtocol: .graphqlWsProtocol), connectingPayload: ["authToken": "old"],
      environment: server.environment)
    return (server, transport, GraphQLClient(networkTransport: transport, store: GraphQLStore()))
  }

  private func token(_ socket: ScriptedSocket) async throws -> String? {
    try await socket.expect("connection_init")["payload"]?["authToken"]?.string
  }

  @Test func `the payload goes with every connection_init, and another one from the next connection on`() throws {
    let (server, transport, client) = try stage()
    server.acknowledgement = nil
    let tokens = try time.run {
      let stream = client.subscribe("subscription { tick }")
      var tokens: [String?] = []
      for next in ["old", "new", "newer"] {
        let socket = try await server.accept()
        tokens.append(try await token(socket))
        socket.send(["type": "connection_ack"])
        try await socket.expect("subscribe")
        if next == "new" { transport.updateConnectingPayload(["authToken": "new"]) }
        if next != "newer" { socket.cut() }
      }
      _ = stream.state
      return tokens
    }
    #expect(tokens == ["old", "old", "new"])
    #expect(server.attempts.first?.subprotocols == ["graphql-transport-ws"])
  }

  @Test func `a payload of texts goes beside a configuration's own`() throws {
    let server = ScriptedServer(time)
    server.acknowledgement = nil
    let texts: [String: String] = ["authToken": "t"]
    var configuration = WebSocketTransport.configuration
    configuration.connectingPayload = ["client": "test"]
    let transport = WebSocketTransport(
      websocket: WebSocket(url: try #require(URL(string: "ws://example.test/")), webSocketProtocol: .graphqlWsProtocol),
      connectingPayload: texts, configuration: configuration, environment: server.environment)
    let client = GraphQLClient(networkTransport: transport)
    let payload = try time.run {
      let stream = client.subscribe("subscription { tick }")
      let payload = try await server.accept().expect("connection_init")["payload"]
      stream.cancel()
      return payload
    }
    #expect(payload?["client"] == "test")
    #expect(payload?["authToken"] == "t")
  }

  @Test func `an open socket is replaced at once when asked, and the mutation on its way is not sent again`() throws {
    let (server, transport, client) = try stage()
    server.acknowledgement = nil
    let (tokens, code, sent) = try time.run {
      let stream = client.subscribe("subscription { tick }")
      let first = try await server.accept()
      var tokens = [try await token(first)]
      first.send(["type": "connection_ack"])
      try await first.expect("subscribe")
      async let outcome = outcome(of: client)
      let mutation = try await first.expect("subscribe")["payload"]?["query"]?.string
      transport.updateConnectingPayload(["authToken": "new"], reconnectIfConnected: true)
      let second = try await server.accept()
      tokens.append(try await token(second))
      second.send(["type": "connection_ack"])
      let again = try await second.expect("subscribe")["payload"]?["query"]?.string
      let code = await outcome
      _ = stream.state
      return (tokens, code, [mutation, again])
    }
    #expect(tokens == ["old", "new"])
    #expect(code == "outcomeUnknown")
    #expect(sent == ["mutation { book }", "subscription { tick }"])
  }

  private func outcome(of client: GraphQLClient) async -> String {
    do {
      _ = try await client.mutate("mutation { book }")
      return "answered"
    } catch let error as GraphQLClientError {
      return error.code.description
    } catch {
      return "\(error)"
    }
  }

  @Test func `other header fields go with the next handshake`() throws {
    let (server, transport, client) = try stage()
    try time.run {
      let stream = client.subscribe("subscription { tick }")
      try await server.accept()
      try await stream.ready()
      transport.updateHeaders([(name: "X-Tenant", value: "vienna")], reconnectIfConnected: true)
      try await server.accept()
    }
    #expect(server.attempts.map { $0.headers.map(\.value) } == [[], ["vienna"]])
  }
}
