import MartletRuntime
import MartletServer
import Testing

/// Fields of models that resolvers answer, and what resolvers reach of their server.
@Suite(.timeLimit(.minutes(1))) struct ComputedFieldTests {
  private static let schema = """
    type Todo @model {
      id: ID!
      text: String!
      owner: ID @index(name: "byOwner", queryField: "todosByOwner")
      rank: Int
      loud(mark: String = "!"): String @computed
      others: Int @computed
    }
    type Mutation { renameAll(to: String!): Int! }
    type Query { titles: [String!]! }
    """

  private static func attach(_ resolvers: inout Resolvers) {
    resolvers.compute("Todo", "loud") { request in
      (request.parent("text")?.string ?? "").uppercased() + (request.string("mark") ?? "")
    }
    resolvers.batch("Todo", "others") { request -> [Int] in
      let all = try await request.server?.list("Todo").items.count ?? 0
      return request.parents("id").map { $0 == nil ? -1 : all - 1 }
    }
    resolvers.resolve("Mutation", "renameAll") { request -> Int in
      let name = request.string("to") ?? ""
      return try await request.server?.transaction { transaction in
        let page = try transaction.list("Todo", ["owner": "ada", "limit": 10], index: "byOwner")
        for item in page.items { try transaction.update("Todo", ["id": item["id"] ?? .null, "text": .string(name)]) }
        return page.items.count
      } ?? -1
    }
    resolvers.resolve("Query", "titles") { request -> [String] in
      try await request.server?.list("Todo", ["filter": ["rank": ["gt": 1]]]).items.compactMap { $0["text"]?.string }
        ?? []
    }
  }

  private static func serve(_ body: (GraphQLServer) async throws -> Void) async throws {
    try await Served.with(schema, { $0.resolvers = { Self.attach(&$0) } }) { server in
      for (rank, owner) in ["ada", "ada", "bob"].enumerated() {
        try await server.transaction { transaction in
          _ = try transaction.create(
            "Todo", ["id": .string("t\(rank)"), "text": "milk", "owner": .string(owner), "rank": .int(Int64(rank))])
        }
      }
      try await body(server)
    }
  }

  @Test func `a computed field is answered from the record and its arguments, in queries and mutations`() async throws {
    try await Self.serve { server in
      let list = try await HTTPRequest.graphql(
        "{ listTodos { items { loud loudly: loud(mark: \"?\") others } } getTodo(id: \"t0\") { loud } }",
        port: server.port
      ).json
      #expect(list["data"]?["listTodos"]?["items"]?[0] == ["loud": "MILK!", "loudly": "MILK?", "others": 2])
      #expect(list["data"]?["getTodo"]?["loud"] == "MILK!")
      let created = try await HTTPRequest.graphql(
        "mutation { createTodo(input: { text: \"tea\" }) { loud others } }", port: server.port
      ).json
      #expect(created["data"]?["createTodo"] == ["loud": "TEA!", "others": 3])
      let refused = try await HTTPRequest.graphql(
        "mutation { createTodo(input: { text: \"tea\", loud: \"x\" }) { id } }", port: server.port)
      #expect(refused.text.contains("loud"), "an input has the computed field: \(refused.text)")
      #expect(refused.json["data"]?["createTodo"] == nil)
    }
  }

  /// Resolvers as an application writes them: one that returns at once, one that suspends, one for all parents.
  private struct Calls {
    var plain = 0
    var suspended = 0
    var batches: [Int] = []
  }

  @Test(arguments: [1, 2])
  func `a selection that needs user code runs it once a node for each event, however many loops have members`(
    loops: Int
  ) async throws {
    let schema = """
      type Todo @model { id: ID! text: String! loud: String @computed slow: String @computed others: Int @computed }
      """
    let calls = Lock(Calls())
    try await Served.with(
      schema,
      { configuration in
        configuration.loops = loops
        configuration.resolvers = { resolvers in
          resolvers.compute("Todo", "loud") { request in
            calls.withLock { $0.plain += 1 }
            return request.parent("text")?.string?.uppercased()
          }
          resolvers.resolve("Todo", "slow") { request -> String in
            await Task.yield()
            calls.withLock { $0.suspended += 1 }
            return request.parent("text")?.string ?? ""
          }
          resolvers.batch("Todo", "others") { request -> [Int] in
            calls.withLock { $0.batches.append(request.parents("id").count) }
            return request.parents("id").map { _ in 1 }
          }
        }
      }
    ) { server in
      let audience = try Audience()
      let (members, events) = (40, 6)
      await audience.join(
        members, port: server.port, query: "subscription { onCreateTodo { id loud slow others } }")
      await audience.expect(members * events) {
        for number in 0..<events {
          _ = try? await server.transaction { _ = try $0.create("Todo", ["id": .string("\(number)"), "text": "milk"]) }
        }
      }
      #expect(calls.withLock { $0.plain } == events && calls.withLock { $0.suspended } == events)
      #expect(calls.withLock { $0.batches } == Array(repeating: 1, count: events))
      #expect(audience.strays.isEmpty)
      await audience.leave()
    }
  }

  @Test func `resolvers read and write through their server`() async throws {
    try await Self.serve { server in
      let renamed = try await HTTPRequest.graphql("mutation { renameAll(to: \"rye\") }", port: server.port).json
      #expect(renamed["data"]?["renameAll"] == 2)
      let titles = try await HTTPRequest.graphql("{ titles }", port: server.port).json
      #expect(titles["data"]?["titles"] == ["milk"])
      #expect(try await server.get("Todo", ["id": "t1"])?["text"] == "rye")
      #expect(try await server.get("Todo", ["id": "none"]) == nil)
      let page = try await server.list("Todo", ["limit": 2])
      #expect(page.items.count == 2)
      let rest = try await server.list("Todo", ["limit": 2, "nextToken": page.nextToken.map { .string($0) } ?? .null])
      #expect(rest.items.count == 1 && rest.nextToken == nil)
      for wrong in [("Nothing", nil), ("Todo", "byNothing")] as [(String, String?)] {
        await #expect(throws: ServerError.self) { try await server.list(wrong.0, index: wrong.1) }
      }
    }
  }

  @Test func `a computed field without a resolver refuses the start, as one that is said to be stored does`() {
    func error(_ schema: String) -> ServerError? {
      var configuration = ServerConfiguration(schema: schema)
      configuration.access = .development
      configuration.log = .silent
      return #expect(throws: ServerError.self) { try GraphQLServer(configuration) }
    }
    let missing = error("type Note @model { id: ID! size: Int @computed }")
    #expect(missing?.code == .schema && missing?.description.contains("Note.size has no resolver") == true)
    let stored = error("type Note @model { id: ID! size: Int @computed @default(value: \"1\") }")
    #expect(stored?.code == .schema && stored?.description.contains("@computed and so has no @default") == true)
  }
}
