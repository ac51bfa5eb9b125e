import MartletJSON
import MartletServer
import Testing

/// What a peer can get wrong, over real sockets: each row ends in its own code and disturbs no other client.
@Suite(.timeLimit(.minutes(1))) struct BadInputTests {
  private static let schema = "type Note @model { id: ID! text: String }"
  private static let initialise = #"{"type":"connection_init"}"#
  private static let subscribe =
    #"{"id":"1","type":"subscribe","payload":{"query":"subscription { onCreateNote { id } }"}}"#

  @Test func `broken sockets close with the code of their rule, and a bystander gets its events`() async throws {
    try await Served.with(Self.schema) { server in
      let bystander = try await RawSocket.session(port: server.port)
      bystander.subscribe("b", "subscription { onCreateNote { text } }")
      _ = try await bystander.message("ready")
      let rows: [(name: String, messages: [String], code: UInt16)] = [
        ("malformed JSON", [Self.initialise, "{"], 4400),
        ("an unknown type", [Self.initialise, #"{"type":"start"}"#], 4400),
        ("no type", [Self.initialise, "[]"], 4400),
        ("a subscribe too early", [Self.subscribe], 4401),
        ("an id in use", [Self.initialise, Self.subscribe, Self.subscribe], 4409),
        ("a second connection_init", [Self.initialise, Self.initialise], 4429),
      ]
      for row in rows {
        let socket = try await RawSocket.open(port: server.port)
        socket.send(row.messages)
        #expect(await socket.closeCode() == row.code, "\(row.name)")
      }
      let binary = try await RawSocket.session(port: server.port)
      binary.sendBinary([1, 2, 3])
      #expect(await binary.closeCode() == 4400)
      _ = try await HTTPRequest.graphql(#"mutation { createNote(input: {text: "a"}) { id } }"#, port: server.port)
      #expect(try await bystander.message("next")["payload"]?["data"]?["onCreateNote"]?["text"] == "a")
      bystander.abort()
    }
  }

  @Test(arguments: [["graphql-nothing"], []])
  func `a socket without a subprotocol spoken here closes with 4406`(subprotocols: [String]) async throws {
    try await Served.with(Self.schema) { server in
      let socket = try await RawSocket.open(port: server.port, subprotocols: subprotocols)
      #expect(await socket.closeCode() == 4406)
    }
  }

  @Test func `a socket that says nothing closes with 4408`() async throws {
    try await Served.with(Self.schema, { $0.limits.webSocket.connectionInitTimeout = .milliseconds(50) }) { server in
      let socket = try await RawSocket.open(port: server.port)
      #expect(await socket.closeCode() == 4408)
    }
  }

  @Test func `a message over the limit closes with 1009`() async throws {
    try await Served.with(Self.schema, { $0.limits.webSocket.messageBytes = 1_000 }) { server in
      let socket = try await RawSocket.session(port: server.port)
      socket.send(#"{"type":"ping","payload":{"x":"\#(String(repeating: "x", count: 2_000))"}}"#)
      #expect(await socket.closeCode() == 1009)
    }
  }

  @Test func `operations that cannot run fail alone, by an error of their own`() async throws {
    try await Served.with(Self.schema, { $0.limits.session.operationsPerConnection = 3 }) { server in
      let socket = try await RawSocket.session(port: server.port)
      for (id, query) in [("syntax", "{"), ("field", "{ nothing }"), ("filter", "subscription { nothing }")] {
        socket.subscribe(id, query)
        let error = try await socket.message("error")
        #expect(error["id"]?.string == id)
        #expect(error["payload"]?[0]?["message"] != nil)
      }
      for id in ["1", "2", "3"] {
        socket.subscribe(id, "subscription { onCreateNote { id } }")
        _ = try await socket.message("ready")
      }
      socket.subscribe("4", "subscription { onCreateNote { id } }")
      let refused = try await socket.message("error")
      #expect(refused["id"] == "4")
      socket.send(#"{"id":"1","type":"complete"}"#)
      socket.subscribe("5", "subscription { onCreateNote { id } }")
      #expect(try await socket.message("ready")["id"] == "5")
      socket.abort()
    }
  }

  @Test func `HTTP requests are refused by status`() async throws {
    try await Served.with(Self.schema) { server in
      let port = server.port
      let json = ("Content-Type", "application/json")
      let rows: [(String, String, [(String, String)], String?, Int)] = [
        ("POST", "/graphql", [json], "{", 400),
        ("POST", "/graphql", [json], "{}", 400),
        ("POST", "/graphql", [json], #"{"query":1}"#, 400),
        ("POST", "/graphql", [("Content-Type", "text/plain")], #"{"query":"{ __typename }"}"#, 415),
        ("POST", "/graphql", [json, ("Accept", "text/html")], #"{"query":"{ __typename }"}"#, 406),
        ("GET", "/graphql?query=%7B__typename%7D", [], nil, 200),
        ("GET", "/graphql?query=mutation%7BdeleteNote(input%3A%7Bid%3A1%7D)%7Bid%7D%7D", [], nil, 405),
        ("DELETE", "/graphql", [], nil, 405),
        ("GET", "/nowhere", [], nil, 404),
        ("POST", "/healthz", [], "", 405),
        ("GET", "/healthz", [], nil, 200),
        ("GET", "/readyz", [], nil, 200),
        ("GET", "/metrics", [], nil, 200),
      ]
      for (method, target, headers, body, status) in rows {
        let answer = try await HTTPRequest.send(method, target, port: port, headers: headers, body: body)
        #expect(answer.status == status, "\(method) \(target) \(headers) \(body ?? "")")
        #expect(answer.head.contains("\r\nDate: ") && answer.head.contains(" GMT"), "\(answer.head)")
      }
      let wished = try await HTTPRequest.send(
        "POST", "/graphql", port: port, headers: [json, ("Accept", "application/graphql-response+json")],
        body: #"{"query":"{ nothing }"}"#)
      #expect(wished.status == 400)
      let large = "{\"query\":\"" + String(repeating: "x", count: 1_100_000)
      #expect(try await HTTPRequest.send("POST", "/graphql", port: port, headers: [json], body: large).status == 413)
      #expect(try await HTTPRequest.raw("BROKEN\r\n\r\n", port: port).status == 400)
    }
  }

  @Test func `metrics count what happened in Prometheus' text form`() async throws {
    try await Served.with(Self.schema) { server in
      let socket = try await RawSocket.session(port: server.port)
      socket.subscribe("1", "subscription { onCreateNote { id } }")
      _ = try await socket.message("ready")
      _ = try await HTTPRequest.graphql("mutation { createNote(input: {}) { id } }", port: server.port)
      _ = try await socket.message("next")
      let text = try await HTTPRequest.send("GET", "/metrics", port: server.port).text
      for line in ["martlet_subscriptions 1", "martlet_feed_deliveries_total 1", "martlet_log_head_offset 3"] {
        #expect(text.contains("\n\(line)\n"), "\(line)")
      }
      socket.abort()
    }
  }

  @Test func `P2: a graceful stop closes sockets with 1001, and what they missed comes after the restart`() async throws
  {
    let folder = try TemporaryFolder()
    var port = 0
    var cursor: String?
    let query = "subscription { onCreateNote { text } }"
    try await Served.with(Self.schema, { $0.data = .folder(folder.path) }) { server in
      port = server.port
      let socket = try await RawSocket.session(port: port)
      socket.subscribe("1", query)
      cursor = try await socket.message("ready")["cursor"]?.string
      let other = try await RawSocket.open(port: port)
      async let code = socket.closeCode()
      async let otherCode = other.closeCode()
      await server.stop()
      #expect(await code == 1001)
      #expect(await otherCode == 1001)
    }
    try await Served.with(Self.schema, { $0.data = .folder(folder.path) }) { server in
      for text in ["a", "b"] {
        _ = try await HTTPRequest.graphql(
          "mutation { createNote(input: {text: \"\(text)\"}) { id } }", port: server.port)
      }
      let socket = try await RawSocket.session(port: server.port)
      socket.subscribe("1", query, resume: cursor)
      for text in ["a", "b"] {
        let next = try await socket.message()
        #expect(next["payload"]?["data"]?["onCreateNote"]?["text"]?.string == text)
      }
      #expect(try await socket.message()["type"] == "ready")
      socket.abort()
    }
  }
}
