import Foundation
import Martlet
import MartletDataStore
import MartletRuntime
import MartletServer
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The programs of the guides, with a server where they need one.
@Suite(.timeLimit(.minutes(1))) struct GuideProgramTests {
  private static func with(
    _ schema: String, _ body: (_ http: URL, _ socket: URL) async throws -> Void
  ) async throws {
    var configuration = ServerConfiguration(schema: schema)
    configuration.access = .development
    configuration.log = .silent
    try await with(GraphQLServer(configuration), body)
  }

  private static func with(
    _ server: GraphQLServer, _ body: (_ http: URL, _ socket: URL) async throws -> Void
  ) async throws {
    try server.start()
    let (http, socket) = ("http://127.0.0.1:\(server.port)/graphql", "ws://127.0.0.1:\(server.port)/graphql")
    do {
      try await body(try #require(URL(string: http)), try #require(URL(string: socket)))
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  @Test func `the login server of the guide to access admits holders of its tokens until they sign out`() async throws {
    let login = OwnLogin { name, password in
      password == "right" ? OwnLogin.Caller(name: name, groups: []) : nil
    }
    let schema = "type Note @model @auth(rules: [{allow: owner}]) { id: ID! text: String }"
    var configuration = try login.configuration(schema: schema)
    configuration.log = .silent
    try await Self.with(GraphQLServer(configuration)) { http, _ in
      func post(_ path: String, _ body: String, _ token: String? = nil) async throws -> (Int, JSONValue) {
        var request = URLRequest(url: try #require(URL(string: path, relativeTo: http)))
        request.httpMethod = "POST"
        request.httpBody = Data(body.utf8)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        let (data, response) = try await URLSession.shared.data(for: request)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, (try? JSONValue(parsing: Array(data))) ?? .null)
      }
      #expect(try await post("/login", #"{"name":"ada","password":"wrong"}"#).0 == 401)
      let token = try #require(
        try await post("/login", #"{"name":"ada","password":"right"}"#).1["token"]?.string)
      let write = #"{"query":"mutation { createNote(input: {text: \"mine\"}) { owner } }"}"#
      #expect(try await post("/graphql", write, token).1["data"]?["createNote"] == ["owner": "ada"])
      #expect(try await post("/graphql", write).0 >= 400)
      #expect(try await post("/logout", "", token).0 == 204)
      #expect(try await post("/graphql", write, token).0 >= 400)
    }
  }

  @Test func `the program of the guide to errors names what was refused, and looks for what may be there`() async throws
  {
    try await Self.with("type Todo @model { id: ID! text: String! }") { http, _ in
      let writer = TodoWriter(client: try GraphQLClient(url: http))
      #expect(try await writer.save(id: "1", text: "Buy tea") == .saved(id: "1"))
      guard case .refused(code: "ALREADY_EXISTS", _) = try await writer.save(id: "1", text: "Again") else {
        Issue.record("a second record of the same id was not refused")
        return
      }
    }
  }

  @Test func `code of an application of Apollo iOS works after the renames`() async throws {
    try await Self.with("type Review @model { id: ID! episode: String! stars: Int! }") { http, socket in
      let board = try ReviewBoard(http: http, socket: socket)
      let (seen, report) = AsyncStream.makeStream(of: Int.self)
      let following = Task { try await board.follow { report.yield($0) } }
      var stars = seen.makeAsyncIterator()
      // Reviews are added until the subscription is live and has shown one.
      let adding = Task {
        while !Task.isCancelled { try await board.add("JEDI", stars: 5) }
      }
      #expect(await stars.next() == 5)
      adding.cancel()
      _ = await adding.result
      #expect(try await board.stars(of: "JEDI").allSatisfy { $0 == 5 })
      following.cancel()
      _ = await following.result
    }
  }

  @Test func `code of an application of Amplify works after the renames`() async throws {
    try await Self.with("type Chore @model { id: ID! name: String! done: Boolean }") { _, socket in
      try await Martlet.withClient(try GraphQLClient(url: socket)) {
        let (seen, report) = AsyncStream.makeStream(of: String.self)
        let following = Task { try await Chores.follow { report.yield($0) } }
        var lines = seen.makeAsyncIterator()
        #expect(await lines.next() == "live")
        let chore = try await Chores.add("Dishes")
        #expect(await lines.next() == "Dishes")
        #expect(try await Chores.open().map(\.name) == ["Dishes"])
        try await Chores.finish(chore)
        #expect(try await Chores.open().isEmpty)
        following.cancel()
        _ = await following.result
      }
    }
  }

  @Test func `a list in the store grows by an object, twice, and can be read after each`() async throws {
    let schema = "type Todo @model { id: ID! text: String! }"
    try await Self.with(schema) { http, _ in
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("guide-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: file) }
      let list = try TodoList(
        http, file: file.path,
        schema: """
          type Query { listTodos: ModelTodoConnection! }
          type ModelTodoConnection { items: [Todo!]! }
          type Todo { id: ID! text: String! }
          """)
      _ = try await list.client.fetch(query: TodoList.Todos(), cachePolicy: .networkOnly)
      try await list.append(id: "1", text: "Buy tea")
      try await list.append(id: "2", text: "Boil water")
      let found = try await list.client.fetch(query: TodoList.Todos(), cachePolicy: .cacheOnly)
      #expect(found.data?.listTodos.items.map(\.text) == ["Buy tea", "Boil water"])
    }
  }

  @Test func `a program that kept its place continues there, and one without begins with the oldest event`()
    async throws
  {
    try await Self.with("type Todo @model { id: ID! text: String! }") { http, socket in
      let reader = try TodoReader(http)
      for text in ["first", "second"] {
        try await reader.client.mutate(
          "mutation Add($t: String!) { createTodo(input: {text: $t}) { id text } }", variables: ["t": .string(text)])
      }
      #expect(try await reader.texts().sorted() == ["first", "second"])
      let follower = TodoFollower(client: try GraphQLClient(url: socket))
      let places = Lock<[String]>([])
      for expected in [["first", "second"], ["second"]] {
        let (seen, report) = AsyncStream.makeStream(of: String.self)
        let place = places.withLock { $0.first }
        let task = Task {
          try await follower.follow(after: place, show: { report.yield($0) }) { cursor in
            places.withLock { $0.append(cursor) }
          }
        }
        var lines = seen.makeAsyncIterator()
        for text in expected { #expect(await lines.next() == text) }
        task.cancel()
        _ = await task.result
      }
    }
  }

  @Test func `a scripted server shows a gap in the place of what is missing`() throws {
    #expect(try ScriptServer.lines() == ["1", "gap", "2"])
  }

  @Test func `a list of models on the device follows them`() async throws {
    let book = try Notebook(.inMemory)
    try await book.add("one", rank: 1)
    try await book.add("four", rank: 4)
    let seen = Lock<[[String]]>([])
    try await book.best { items in
      seen.withLock { $0.append(items) }
      return false
    }
    #expect(seen.withLock { $0 } == [["four"]])
  }

  @Test func `fields of the program answer, and their errors have a code`() async throws {
    let thermometer = try Thermometer { $0 == "roof" ? 21.5 : nil }
    try await Self.with(thermometer.server) { http, _ in
      let client = try GraphQLClient(url: http)
      #expect(try await client.query("{ celsius(station: \"roof\") }").data?["celsius"]?.double == 21.5)
      let refused = try await client.query("{ celsius(station: \"cellar\") }")
      #expect(refused.errors.first?.extensions["code"] == "NOT_FOUND")
    }
  }

  @Test func `two models are written together`() async throws {
    let shop = try Shop()
    try await Self.with(shop.server) { http, _ in
      _ = try await shop.firstOrder(of: "Ada", total: 12.5, placed: "2026-11-22T10:00:00Z")
      let client = try GraphQLClient(url: http)
      let found = try await client.query("{ listOrders { items { total customer { name } } } }")
      #expect(found.data?["listOrders"]?["items"]?[0]?["customer"]?["name"] == "Ada")
    }
  }

  @Test func `subscriptions over HTTP alone`() async throws {
    for events in [false, true] {
      try await Self.with("type Todo @model { id: ID! text: String! }") { http, _ in
        let client = try GraphQLClient(url: http)
        let adding = Task {
          while !Task.isCancelled {
            try await client.mutate("mutation { createTodo(input: {text: \"tea\"}) { id text } }")
          }
        }
        let follow = events ? SubscribeByEvents.follow : SubscribeByMultipart.follow
        try await follow(http) { $0 == "tea" }
        adding.cancel()
        _ = await adding.result
      }
    }
  }
}
