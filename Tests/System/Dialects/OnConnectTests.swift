import MartletJSON
import MartletServer
import MartletWireProtocols
import Synchronization
import Testing

/// The program's own word on who may connect, in every dialect.
@Suite(.timeLimit(.minutes(1))) struct OnConnectTests {
  private struct Unavailable: Error {}

  private static func with(
    _ question: @escaping ConnectionQuestion, _ body: (GraphQLServer) async throws -> Void
  ) async throws {
    try await Served.with(
      LegacySocketTests.schema,
      {
        $0.onConnect = question
        $0.limits.operationTimeout = .milliseconds(200)
      }, body)
  }

  @Test func `an accepted client gets the payload its protocol has room for`() async throws {
    let asked = Mutex<[ConnectionRequest]>([])
    try await Self.with({ request in
      asked.withLock { $0.append(request) }
      return .accept(payload: ["user": request.payload["name"] ?? "?"])
    }) { server in
      for subprotocol in ["graphql-transport-ws", "graphql-ws"] {
        let socket = try await RawSocket.open(port: server.port, subprotocols: [subprotocol])
        socket.send(#"{"type":"connection_init","payload":{"name":"ada"}}"#)
        #expect(try await socket.message() == ["type": "connection_ack", "payload": ["user": "ada"]])
        socket.abort()
      }
      let opening = AppSyncRealtime.Opening(.query, authorization: ["name": "ada"], target: "/graphql/realtime")
      let socket = try await RawSocket.open(
        port: server.port, subprotocols: opening.subprotocols, target: opening.target)
      socket.send(#"{"type":"connection_init"}"#)
      #expect(try await socket.message()["payload"] == ["connectionTimeoutMs": 300_000])
      socket.abort()
    }
    #expect(asked.withLock { $0.map(\.dialect) } == [.graphqlTransportWS, .graphqlWS, .appSync])
    #expect(asked.withLock { $0.allSatisfy { $0.payload == ["name": "ada"] } })
  }

  @Test(arguments: ["refuses", "throws", "hangs"]) func `whoever is not accepted is refused as the protocol does`(
    behaviour: String
  ) async throws {
    try await Self.with({ _ in
      switch behaviour {
      case "refuses": return .refuse("not today")
      case "throws": throw Unavailable()
      default:
        let (stream, _) = AsyncStream.makeStream(of: Void.self)
        for await _ in stream {}
        throw CancellationError()
      }
    }) { server in
      let codes: [(String, UInt16)] = [("graphql-transport-ws", 4403), ("graphql-ws", 1011)]
      for (subprotocol, code) in codes {
        let socket = try await RawSocket.open(port: server.port, subprotocols: [subprotocol])
        socket.send(#"{"type":"connection_init"}"#)
        if code == 1011 {
          let message = try await socket.message()
          #expect(message["type"] == "connection_error")
          if behaviour == "refuses" { #expect(message["payload"]?["message"] == "not today") }
        }
        #expect(await socket.closeCode() == code)
      }
    }
  }

  @Test func `a client that leaves before the answer is forgotten`() async throws {
    let (stream, told) = AsyncStream.makeStream(of: Void.self)
    try await Self.with({ _ in
      told.yield()
      for await _ in AsyncStream<Void>.makeStream().stream {}
      return .accept()
    }) { server in
      let socket = try await RawSocket.open(port: server.port)
      socket.send(#"{"type":"connection_init"}"#)
      var asked = stream.makeAsyncIterator()
      await asked.next()
      socket.abort()
      while true {
        let text = try await HTTPRequest.send("GET", "/metrics", port: server.port).text
        if text.contains("\nmartlet_websocket_sessions 0\n") { break }
      }
    }
  }
}
