import Foundation
import MartletGraphQLWire
import MartletJSON
import MartletRuntime
import MartletServer
import MartletWire
import Testing

/// The program's own word on who may connect, in every dialect.
@Suite(.timeLimit(.minutes(1))) struct OnConnectTests {
  private struct Unavailable: Error {}

  private static func with(
    _ question: @escaping ConnectionQuestion, _ body: (GraphQLServer) async throws -> Void
  ) async throws {
    try await Served.with(
      GraphQLWSSocketTests.schema,
      {
        $0.onConnect = question
        $0.limits.query.operationTimeout = .milliseconds(200)
      }, body)
  }

  @Test func `an accepted client gets the payload its protocol has room for`() async throws {
    let asked = Lock<[ConnectionRequest]>([])
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

  @Test(arguments: ["refuses", "throws", "hangs"]) func `a client that is not accepted is refused as the protocol does`(
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

  @Test(arguments: StreamedSubscriptionTests.forms) func `every request over HTTP is asked for, streams included`(
    accept: String
  ) async throws {
    let asked = Lock<[ConnectionRequest]>([])
    try await Self.with({ request in
      asked.withLock { $0.append(request) }
      return request.payload["authToken"] == "good" ? .accept() : .refuse("not today")
    }) { server in
      let query = "subscription { onCreateNote { id } }"
      for (asks, accepts) in [(query, accept), ("{ __typename }", "application/json")] {
        let refused = try await HTTPRequest.graphql(
          asks, port: server.port, headers: [("Accept", accepts), ("authToken", "bad")])
        #expect(refused.status == 403 && refused.json["errors"]?[0]?["message"] == "not today")
      }
      let answer = try await HTTPRequest.graphql(
        "{ __typename }", port: server.port, headers: [("authToken", "good")])
      #expect(answer.status == 200 && answer.json["data"]?["__typename"] == "Query")
      let stream = try await StreamedResponse.open(
        query, accept: accept, headers: [("authToken", "good")], port: server.port)
      #expect(await stream.heard { $0 == .heartbeat }.last == .heartbeat)
      stream.abort()
    }
    let transport: ConnectionRequest.Transport = accept == "text/event-stream" ? .eventStream : .multipart
    #expect(asked.withLock { $0.map(\.transport) } == [transport, .http, .http, transport])
  }

  /// Paths that have nothing of an application: they are served to every client of an accepted origin.
  private static let open: Set = ["/healthz", "/readyz", "/console", "/console/{name...}", "/", "/open"]
  /// Paths of WebSockets alone, at which each client is asked for by its own message.
  private static let sockets: Set = ["/.ws", "/graphql/realtime", "/archive/graphql/realtime"]

  @Test func `every path that is served asks about its caller before it does anything, by every method`() async throws {
    let asked = Lock(0)
    try await Served.with(
      GraphQLWSSocketTests.schema,
      {
        $0.access = .onConnect()
        $0.onConnect = { _ in
          asked.withLock { $0 += 1 }
          return .refuse("not today")
        }
        $0.treeRules = #"{"rules": {".read": true, ".write": true}}"#
        $0.channels = ChannelConfiguration()
        $0.stores = [try ServerStore("/archive", schema: "type Entry @model { id: ID! }")]
        $0.endpoints = [
          try ServerEndpoint("/own/{name...}") { _, response in await response.send(200) },
          try ServerEndpoint("/open", access: .open) { _, response in await response.send(200) },
        ]
      }
    ) { server in
      let unknown = try await HTTPRequest.send("GET", "/nowhere", port: server.port).text
      let list = try #require(unknown.split(separator: ":").last).split(separator: ",")
      let paths = list.map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " .\n")) }
      let known = Self.open.union(Self.sockets).union(["/graphql", "/own/{name...}"])
      #expect(Set(paths).isSuperset(of: known), "\(paths)")
      for path in paths where !Self.open.contains(path) && !Self.sockets.contains(path) {
        let target = path.replacing(/\{[a-z]+\.\.\.\}/, with: "x")
        let before = asked.withLock { $0 }
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] {
          for body in [nil, #"{"query":"mutation { createNote(input: {id: \"1\"}) { id } }"}"#] {
            let answer = try await HTTPRequest.send(
              method, target, port: server.port, headers: [("Content-Type", "application/json")], body: body)
            // A declared length is judged before the caller is.
            let refusals = body == nil ? [403, 405] : [403, 405, 413]
            #expect(refusals.contains(answer.status), "\(method) \(target): \(answer.status) \(answer.text)")
          }
        }
        #expect(asked.withLock { $0 } > before, "\(path)")
      }
    }
  }

  @Test func `requests about a shared event stream are asked for, and its token alone opens it`() async throws {
    let asked = Lock<[JSONValue?]>([])
    try await Self.with({ request in
      asked.withLock { $0.append(request.payload["Authorization"]) }
      return request.payload["Authorization"] == "Bearer good" ? .accept() : .refuse()
    }) { server in
      let good = [("Authorization", "Bearer good"), ("Content-Type", "application/json")]
      #expect(try await HTTPRequest.send("PUT", "/graphql/stream", port: server.port, body: "").status == 403)
      let token = try await HTTPRequest.send(
        "PUT", "/graphql/stream", port: server.port, headers: good, body: ""
      ).text
      let operation = #"{"query":"{ __typename }","extensions":{"operationId":"1"}}"#
      let target = "/graphql/stream?token=\(token)"
      #expect(try await HTTPRequest.send("POST", target, port: server.port, body: operation).status == 403)
      #expect(
        try await HTTPRequest.send("POST", target, port: server.port, headers: good, body: operation).status == 202)
      let response = try await StreamedResponse.send(
        HTTPRequestHead(
          method: "GET", target: target,
          headers: HTTPHeaders([("Host", "127.0.0.1:\(server.port)"), ("Accept", "text/event-stream")])), body: nil,
        readingEvents: true, port: server.port)
      let heard = await response.heard {
        if case .event = $0 { return true }
        return $0 == .ended
      }
      #expect(heard.last != .ended, "\(heard)")
      response.abort()
    }
    #expect(asked.withLock { $0 } == [nil, "Bearer good", nil, "Bearer good"])
  }

  @Test func `a question about a request holds back its body beyond 64 KiB, and the answer lets it through`()
    async throws
  {
    let (answers, answer) = AsyncStream.makeStream(of: Void.self)
    let (questions, told) = AsyncStream.makeStream(of: Void.self)
    try await Served.with(
      GraphQLWSSocketTests.schema,
      {
        $0.onConnect = { request in
          told.yield()
          if request.payload["authToken"] == "bad" { return .refuse() }
          for await _ in answers { break }
          return .accept()
        }
      }
    ) { server in
      let query = #"{"query":"{ __typename } #\#(String(repeating: "x", count: 300_000))"}"#
      let head =
        "POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        + "Connection: close\r\nContent-Length: \(query.utf8.count)\r\n"
      async let served = HTTPRequest.raw(head + "\r\n" + query, port: server.port)
      var asked = questions.makeAsyncIterator()
      await asked.next()
      answer.yield()
      let response = try await served
      #expect(response.status == 200, "\(response.text)")
      let refused = try await HTTPRequest.raw(head + "authToken: bad\r\n\r\n", port: server.port)
      #expect(refused.status == 403)
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
