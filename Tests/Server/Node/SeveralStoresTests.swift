import Foundation
import MartletJSON
import MartletSQLite
import MartletServer
import MartletStore
import Testing

/// Several stores, each with a log of its own, under one server and its loops.
@Suite(.timeLimit(.minutes(1))) struct SeveralStoresTests {
  private static let schema = """
    type Note @model { id: ID! text: String }
    type Subscription { alert(level: Int): Alert }
    type Alert { level: Int text: String }
    """

  private static func configuration(_ first: String, _ second: String) throws -> ServerConfiguration {
    var configuration = ServerConfiguration(schema: schema)
    configuration.access = .development
    configuration.log = .silent
    configuration.loops = 2
    configuration.data = .folder(first)
    configuration.topics = ["alert": "alerts"]
    var archive = try ServerStore("/archive", schema: schema)
    archive.data = .folder(second)
    archive.topics = ["alert": "alerts"]
    configuration.stores = [archive]
    return configuration
  }

  private static func with(
    _ configuration: ServerConfiguration, _ body: (GraphQLServer) async throws -> Void
  ) async throws {
    let server = try GraphQLServer(configuration)
    try server.start()
    do {
      try await body(server)
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  private static func create(_ text: String, _ path: String, _ server: GraphQLServer) async throws {
    let body = #"{"query":"mutation { createNote(input: {text: \"\#(text)\"}) { id } }"}"#
    let answer = try await HTTPRequest.send(
      "POST", path, port: server.port, headers: [("Content-Type", "application/json")], body: body)
    try #require(answer.status == 200 && answer.json["errors"] == nil, "\(answer.text)")
  }

  private static func follow(
    _ path: String, _ server: GraphQLServer, resume: String? = nil
  ) async throws -> RawSocket {
    let socket = try await RawSocket.open(port: server.port, target: path)
    socket.send(#"{"type":"connection_init","payload":{"martlet":{"cursors":true}}}"#)
    _ = try await socket.message("connection_ack")
    socket.subscribe("1", "subscription { onCreateNote { text } }", resume: resume)
    return socket
  }

  private static func texts(_ count: Int, _ socket: RawSocket) async throws -> [(text: String?, cursor: String?)] {
    var events: [(text: String?, cursor: String?)] = []
    for _ in 0..<count {
      let next = try await socket.message("next")
      events.append((next["payload"]?["data"]?["onCreateNote"]?["text"]?.string, next["cursor"]?.string))
    }
    return events
  }

  @Test func `two stores have offsets, subscribers and resumption of their own, also after a restart`() async throws {
    let (one, two) = (try TemporaryFolder(), try TemporaryFolder())
    let configuration = try Self.configuration(one.path + "/data", two.path + "/data")
    var cursors: [String?] = []
    try await Self.with(configuration) { server in
      let first = try await Self.follow("/graphql", server)
      let second = try await Self.follow("/archive/graphql", server)
      _ = try await first.message("ready")
      _ = try await second.message("ready")
      for number in 1...3 { try await Self.create("a\(number)", "/graphql", server) }
      try await Self.create("b1", "/archive/graphql", server)
      let (a, b) = (try await Self.texts(3, first), try await Self.texts(1, second))
      #expect(a.map { $0.text } == ["a1", "a2", "a3"] && b.map { $0.text } == ["b1"])
      cursors = [a.last?.cursor, b.last?.cursor]
      let heads = server.nodes.map(\.store.position.head)
      #expect(heads[0] == heads[1] + 2)
      let metrics = try await HTTPRequest.send("GET", "/metrics", port: server.port).text
      #expect(metrics.contains("\nmartlet_log_head_offset \(heads[0])\n"))
      #expect(metrics.contains("\nmartlet_log_head_offset{store=\"/archive\"} \(heads[1])\n"))
      #expect(metrics.contains("\nmartlet_subscriptions 2\n"))
      first.abort()
      second.abort()
    }
    try await Self.with(configuration) { server in
      try await Self.create("a4", "/graphql", server)
      for number in 2...4 { try await Self.create("b\(number)", "/archive/graphql", server) }
      let first = try await Self.follow("/graphql", server, resume: cursors[0])
      let second = try await Self.follow("/archive/graphql", server, resume: cursors[1])
      #expect(try await Self.texts(1, first).map { $0.text } == ["a4"])
      #expect(try await Self.texts(3, second).map { $0.text } == ["b2", "b3", "b4"])
      _ = try await first.message("ready")
      _ = try await second.message("ready")
      // A cursor of one log means nothing in the other.
      let lost = try await Self.follow("/archive/graphql", server, resume: cursors[0])
      #expect(try await lost.message("gap")["reason"] == "lineage")
      for socket in [first, second, lost] { socket.abort() }
    }
  }

  @Test func `readiness has the reasons of every store with its path, and those of one store are not those of another`()
    async throws
  {
    let (one, two) = (try TemporaryFolder(), try TemporaryFolder())
    let configuration = try Self.configuration(one.path + "/data", two.path + "/data")
    func ready(_ server: GraphQLServer) async throws -> String {
      let answer = try await HTTPRequest.send("GET", "/readyz", port: server.port)
      return "\(answer.status) \(answer.text.trimmingCharacters(in: .whitespacesAndNewlines))"
    }
    var cursors: [String] = []
    // More than the ring holds need not be written: a server that starts has an empty one.
    try await Self.with(configuration) { server in
      let socket = try await Self.follow("/archive/graphql", server)
      cursors.append(try #require(try await socket.message("ready")["cursor"]?.string))
      for number in 0..<9 { try await Self.create("\(number)", "/archive/graphql", server) }
      socket.abort()
    }
    let database = try Database(path: two.path + "/data/" + StoreFormat.databaseName)
    try database.execute("DELETE FROM martlet_log WHERE offset = 5")
    try await Self.with(configuration) { server in
      #expect(try await ready(server) == "200 ready")
      let socket = try await Self.follow("/archive/graphql", server, resume: cursors[0])
      #expect(try await socket.message("gap")["reason"] == "damage")
      #expect(try await ready(server) == "200 degraded: the change log in /archive is damaged at offset 5")
      let metrics = try await HTTPRequest.send("GET", "/metrics", port: server.port).text
      #expect(metrics.contains("\nmartlet_log_damage_total 0\n"))
      #expect(metrics.contains("\nmartlet_log_damage_total{store=\"/archive\"} 1\n"))
      // Both stores take no writes, for a reason of their own each.
      for folder in [one.path, two.path] {
        try FileManager.default.moveItem(atPath: folder + "/data", toPath: folder + "/gone")
      }
      for path in ["/graphql", "/archive/graphql"] {
        let answer = try await HTTPRequest.send(
          "POST", path, port: server.port, headers: [("Content-Type", "application/json")],
          body: #"{"query":"mutation { createNote(input: {text: \"x\"}) { id } }"}"#)
        #expect(answer.json["errors"]?[0]?["extensions"]?["code"] == "DATA_UNAVAILABLE")
      }
      #expect(
        try await ready(server) == "503 degraded: no writes: the data files are gone; no writes in /archive: the data "
          + "files are gone; the change log in /archive is damaged at offset 5")
      try FileManager.default.moveItem(atPath: one.path + "/gone", toPath: one.path + "/data")
      try await Self.create("x", "/graphql", server)
      #expect(
        try await ready(server) == "503 degraded: no writes in /archive: the data files are gone; the change log in "
          + "/archive is damaged at offset 5")
      socket.abort()
    }
  }

  @Test func `transactions, topics and schema changes go to the store they name`() async throws {
    var configuration = ServerConfiguration(schema: Self.schema)
    configuration.access = .development
    configuration.log = .silent
    configuration.loops = 1
    configuration.topics = ["alert": "alerts"]
    var archive = try ServerStore("/archive", schema: Self.schema)
    archive.topics = ["alert": "alerts"]
    configuration.stores = [archive]
    try await Self.with(configuration) { server in
      func alerts(_ path: String) async throws -> RawSocket {
        let socket = try await RawSocket.open(port: server.port, target: path)
        socket.send(#"{"type":"connection_init","payload":{"martlet":{"cursors":true}}}"#)
        _ = try await socket.message("connection_ack")
        socket.subscribe("1", "subscription { alert { text } }")
        _ = try await socket.message("ready")
        return socket
      }
      let (first, second) = (try await alerts("/graphql"), try await alerts("/archive/graphql"))
      try await server.publish(topic: "alerts", payload: ["text": "archive"], at: "/archive")
      try await server.publish(topic: "alerts", payload: ["text": "first"])
      #expect(try await first.message("next")["payload"]?["data"]?["alert"]?["text"] == "first")
      #expect(try await second.message("next")["payload"]?["data"]?["alert"]?["text"] == "archive")
      try await server.transaction(at: "/archive") { _ = try $0.create("Note", ["id": "n", "text": "kept"]) }
      func note(_ path: String, _ fields: String) async throws -> JSONValue {
        try await HTTPRequest.send(
          "POST", path, port: server.port, headers: [("Content-Type", "application/json")],
          body: "{\"query\":\"{ getNote(id: \\\"n\\\") { \(fields) } }\"}"
        ).json
      }
      #expect(try await note("/archive/graphql", "text")["data"]?["getNote"]?["text"] == "kept")
      #expect(try await note("/graphql", "text")["data"]?["getNote"] == .null)
      let wider = Self.schema.replacing(
        "text: String }\ntype Subscription", with: "text: String stars: Int }\ntype Subscription")
      try await server.reload(schema: wider, at: "/archive")
      #expect(try await note("/archive/graphql", "stars")["data"]?["getNote"]?["stars"] == .null)
      #expect(try await note("/archive/graphql", "stars")["errors"] == nil)
      #expect(try await note("/graphql", "stars")["errors"] != nil)
      await #expect(throws: ServerError.self) { try await server.publish(topic: "alerts", payload: 1, at: "/other") }
      first.abort()
      second.abort()
    }
  }

  @Test(arguments: Talk.all) func `sockets of every dialect follow the store whose path they were opened at`(talk: Talk)
    async throws
  {
    var configuration = ServerConfiguration(schema: Self.schema)
    configuration.access = .development
    configuration.log = .silent
    configuration.loops = 1
    configuration.topics = ["alert": "alerts"]
    configuration.stores = [try ServerStore("/archive", schema: "type Note @model { id: ID! text: String }")]
    try await Self.with(configuration) { server in
      let socket = try await talk.open(server.port, store: "/archive")
      socket.send(talk.initialise())
      _ = try await socket.message(talk.dialect == .graphqlTransportWS ? "connection_ack" : "ka")
      socket.send(talk.start("1"))
      switch talk.dialect {
      case .graphqlTransportWS: _ = try await socket.message("ready")
      case .appSync: _ = try await socket.message("start_ack")
      case .graphqlWS:
        socket.send(talk.initialise())
        _ = try await socket.message("connection_ack")
      }
      try await Self.create("first", "/graphql", server)
      try await Self.create("archived", "/archive/graphql", server)
      #expect(try await socket.message(talk.event)["payload"]?["data"]?["onCreateNote"]?["text"] == "archived")
      socket.abort()
    }
  }

  @Test(arguments: StreamedSubscriptionTests.forms)
  func `a stream over HTTP follows the store whose path it was opened at`(
    accept: String
  ) async throws {
    let (one, two) = (try TemporaryFolder(), try TemporaryFolder())
    try await Self.with(try Self.configuration(one.path + "/data", two.path + "/data")) { server in
      let stream = try await StreamedResponse.open(
        Talk.subscription, accept: accept, target: "/archive/graphql", port: server.port)
      let opened = await stream.heard { $0 == .heartbeat }
      #expect(opened.last == .heartbeat)
      try await Self.create("first", "/graphql", server)
      try await Self.create("archived", "/archive/graphql", server)
      let heard = await stream.heard { $0 != .heartbeat }
      #expect(heard.last == .result(["data": ["onCreateNote": ["text": "archived"]]]), "\(heard)")
      stream.abort()
    }
  }

  private static let refused = [
    "/graphql", "/metrics/own", "/console", "/channels/a", "/signIn", "archive", "/a//b", "/",
  ]

  @Test(arguments: refused)
  func `a further store is not served where the server has paths, nor at a text that is not a path`(path: String) {
    let error = #expect(throws: ServerError.self) { try ServerStore(path, schema: Self.schema) }
    #expect(error?.code == .endpoint)
    #expect(error?.description.contains("\"\(path)\"") == true)
  }

  @Test func `every door of a further store is below its path`() async throws {
    var configuration = ServerConfiguration(schema: Self.schema)
    configuration.access = .development
    configuration.log = .silent
    configuration.loops = 1
    configuration.topics = ["alert": "alerts"]
    configuration.stores = [try ServerStore("/a/b", schema: "type Entry @model { id: ID! }")]
    try await Self.with(configuration) { server in
      func send(_ method: String, _ path: String, _ headers: [(String, String)] = [], _ body: String? = nil)
        async throws
        -> HTTPRequest.Answer
      {
        try await HTTPRequest.send(method, path, port: server.port, headers: headers, body: body)
      }
      let json = ("Content-Type", "application/json")
      let list = #"{"query":"{ listEntries { items { id } } }"}"#
      #expect(try await send("POST", "/a/b/graphql", [json], list).json["data"]?["listEntries"] != nil)
      #expect(try await send("POST", "/graphql", [json], list).json["errors"] != nil)
      let events = try await send("POST", "/a/b/graphql/stream", [json, ("Accept", "text/event-stream")], list).text
      #expect(events.contains("listEntries"))
      #expect(try await send("PUT", "/a/b/graphql/stream", [], "").status == 201)
      let unknown = try await send("DELETE", "/graphql/stream").status
      #expect(try await send("DELETE", "/a/b/graphql/stream").status == unknown)
      #expect(try await send("GET", "/a/b/graphql/realtime").status == 426)
      #expect(try await send("GET", "/a/graphql").status == 404)
      #expect(try await send("GET", "/readyz").status == 200)
    }
  }

  @Test(arguments: ["", "archive", "/", "/a/", "//a", "/a b", "/graphql", "/metrics/x", "/healthz"])
  func `a path that cannot be a store's is refused`(path: String) {
    let error = #expect(throws: ServerError.self) { try ServerStore(path, schema: "type Note @model { id: ID! }") }
    #expect(error?.code == .endpoint)
  }

  @Test func `two stores at one path or in one folder are refused, and nothing stays open`() throws {
    let folder = try TemporaryFolder()
    var configuration = try Self.configuration(folder.path + "/data", folder.path + "/data")
    let error = #expect(throws: ServerError.self) { try GraphQLServer(configuration) }
    #expect(error?.code == .data)
    configuration.stores += configuration.stores
    let twice = #expect(throws: ServerError.self) { try GraphQLServer(configuration) }
    #expect(twice?.code == .endpoint)
    configuration.stores = []
    // The folder is free again.
    #expect(throws: Never.self) { try GraphQLServer(configuration) }
  }
}
