import CMartletAllocationCounter
import MartletGraphQLExecution
import MartletJSON
import MartletLoop
import MartletRuntime
import MartletServer
import MartletSockets
import MartletVocabulary
import Testing

/// Responses in parts over real sockets (`@defer`, `@stream`).
@Suite struct PartsTests {
  static let schema = """
    type Query { hero: Hero numbers: [Int!] feed: [Int!] }
    type Hero { id: ID! name: String slow: String }
    """

  /// Opened by the test when it has seen enough.
  static func serving(
    _ latch: AsyncStream<Void>, entered: AsyncStream<Void>.Continuation? = nil,
    _ adjust: @escaping @Sendable (inout ServerConfiguration) -> Void = { _ in },
    _ body: (GraphQLServer) async throws -> Void
  ) async throws {
    try await Served.with(
      schema,
      { configuration in
        configuration.resolvers = { resolvers in
          resolvers.compute("Query", "hero") { _ in ["id": "1", "name": "Leia"] as JSONValue }
          resolvers.compute("Query", "feed") { _ in [Int]() }
          resolvers.compute("Query", "numbers") { _ in [1, 2, 3] as JSONValue }
          resolvers.resolve("Hero", "slow") { _ in
            entered?.finish()
            for await _ in latch {}
            return Task.isCancelled ? "cancelled" : "slow"
          }
        }
        adjust(&configuration)
      }, body)
  }

  @Test func `a deferred fragment follows in a part of its own, when it is ready`() async throws {
    let (latch, opening) = AsyncStream.makeStream(of: Void.self)
    try await Self.serving(latch) { server in
      let reader = try await PartsReader.open(
        #"{ hero { id ... @defer(label: "late") { slow } } }"#, port: server.port,
        accept: "multipart/mixed;incrementalSpec=v0.2, application/json")
      var chunks: [String] = []
      let (head, body) = try await reader.read { _, chunk in
        chunks.append(chunk)
        // The server writes the first part while the deferred field still waits for this.
        opening.finish()
        return true
      }
      #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(head.contains("Content-Type: multipart/mixed; boundary=\"-\"; incrementalSpec=v0.2\r\n"))
      #expect(head.contains("Transfer-Encoding: chunked"))
      func part(_ json: String) -> String {
        "\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: \(json.utf8.count)\r\n\r\n" + json
      }
      #expect(
        chunks == [
          "\r\n---"
            + part(
              #"{"data":{"hero":{"id":"1"}},"pending":[{"id":"0","path":["hero"],"label":"late"}],"hasNext":true}"#)
            + "\r\n---",
          part(#"{"incremental":[{"id":"0","data":{"slow":"slow"}}],"completed":[{"id":"0"}],"hasNext":false}"#)
            + "\r\n-----\r\n",
        ])
      #expect(body == chunks.joined())
    }
  }

  @Test func `the older shape is sent to clients that ask for it`() async throws {
    let (latch, opening) = AsyncStream.makeStream(of: Void.self)
    opening.finish()
    try await Self.serving(latch) { server in
      let reader = try await PartsReader.open(
        #"{ hero { id ... @defer(label: "late") { id slow } } numbers @stream(initialCount: 1) }"#, port: server.port,
        accept: "multipart/mixed;deferSpec=20220824,application/json")
      let (head, body) = try await reader.read { _, _ in true }
      #expect(head.contains("Content-Type: multipart/mixed; boundary=\"-\"; deferSpec=20220824\r\n"))
      #expect(body.contains(#"{"data":{"hero":{"id":"1"},"numbers":[1]},"hasNext":true}"#))
      #expect(body.contains(#"{"data":{"id":"1","slow":"slow"},"path":["hero"],"label":"late"}"#))
      #expect(body.contains(#"{"items":[2,3],"path":["numbers",1]}"#))
      #expect(body.hasSuffix("\r\n-----\r\n"))
    }
  }

  @Test(arguments: ["application/json", "*/*", "application/graphql-response+json, multipart/mixed;q=0.5"])
  func `others get everything at once`(accept: String) async throws {
    let (latch, opening) = AsyncStream.makeStream(of: Void.self)
    opening.finish()
    try await Self.serving(latch) { server in
      let answer = try await HTTPRequest.graphql(
        "{ hero { id ... @defer { slow } } numbers @stream }", port: server.port, headers: [("Accept", accept)])
      #expect(answer.json == ["data": ["hero": ["id": "1", "slow": "slow"], "numbers": [1, 2, 3]]])
    }
  }

  @Test func `an operation without parts is answered in one piece, or as the only part`() async throws {
    let (latch, _) = AsyncStream.makeStream(of: Void.self)
    try await Self.serving(latch) { server in
      let whole = try await HTTPRequest.graphql(
        "{ hero { id ... @defer(if: false) { name } } }", port: server.port,
        headers: [("Accept", "multipart/mixed, application/json")])
      #expect(whole.head.contains("Content-Type: application/json"))
      #expect(whole.json == ["data": ["hero": ["id": "1", "name": "Leia"]]])
      let reader = try await PartsReader.open("{ numbers }", port: server.port, accept: "multipart/mixed")
      let (_, body) = try await reader.read { _, _ in true }
      #expect(
        body == "\r\n---\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: 28\r\n\r\n"
          + #"{"data":{"numbers":[1,2,3]}}"# + "\r\n-----\r\n")
    }
  }

  @Test func `a client that leaves ends what is under way`() async throws {
    let (latch, opening) = AsyncStream.makeStream(of: Void.self)
    let (ended, ending) = AsyncStream.makeStream(of: Void.self)
    opening.onTermination = { reason in
      if case .cancelled = reason { ending.finish() }
    }
    let (entered, entering) = AsyncStream.makeStream(of: Void.self)
    try await Self.serving(latch, entered: entering) { server in
      let reader = try await PartsReader.open(
        "{ hero { id ... @defer { slow } } }", port: server.port, accept: "multipart/mixed")
      _ = try await reader.read { _, _ in false }
      // A client that leaves earlier finds nothing under way.
      for await _ in entered {}
      reader.abort()
      for await _ in ended {}
    }
  }

  @Test func `parts that take too long are reported as failed, and the response ends`() async throws {
    let (latch, opening) = AsyncStream.makeStream(of: Void.self)
    try await Self.serving(latch, { $0.limits.query.deliveryTimeout = .milliseconds(20) }) { server in
      let reader = try await PartsReader.open(
        "{ hero { id ... @defer { slow } } }", port: server.port, accept: "multipart/mixed")
      let (_, body) = try await reader.read { _, _ in true }
      #expect(body.contains(#""code":"DEADLINE""#))
      #expect(body.contains(#"{"completed":[{"id":"0","errors":[{"#))
      #expect(body.hasSuffix("\"hasNext\":false}\r\n-----\r\n"))
    }
    opening.finish()
  }

  @Test func `records of models are delivered in parts without a task`() async throws {
    try await Served.with("type Todo @model { id: ID! name: String! done: Boolean }") { server in
      for number in 1...40 {
        _ = try await HTTPRequest.graphql(
          "mutation { createTodo(input: {id: \"\(number)\", name: \"todo\"}) { id } }", port: server.port)
      }
      let reader = try await PartsReader.open(
        "{ listTodos(limit: 40) { items @stream(initialCount: 2) { id } } getTodo(id: \"7\") { id ... @defer { name } } }",
        port: server.port, accept: "multipart/mixed")
      var chunks: [String] = []
      let (_, body) = try await reader.read { _, chunk in
        chunks.append(chunk)
        return true
      }
      #expect(
        body.contains(#"{"id":"0","data":{"name":"todo"}}"#) || body.contains(#"{"id":"1","data":{"name":"todo"}}"#))
      #expect(chunks.count == 3)
      #expect(body.split(separator: #"{"id":"#).count > 40)
      #expect(body.hasSuffix("\"hasNext\":false}\r\n-----\r\n"))
    }
  }

  @Test func `nothing more is made while the reader is behind`() async throws {
    let loop = try TestLoop.shared()
    let schema = try ExecutableSchema("type Query { numbers: [Int!] }", allowsIncrementalDelivery: true)
    let plan = try schema.prepare(Array("{ numbers @stream }".utf8), operationName: nil)
    let variant = try #require(plan.variant(for: [:], format: .current))
    let seen = await withCheckedContinuation { (done: CheckedContinuation<[Int], Never>) in
      loop.execute {
        var payloads = 0
        var seen: [Int] = []
        let root = ResolvedValue.value(["numbers": .array((0..<100).map { .int($0) })])
        let operation = DeliveringOperation(
          Execution(plan, variant: variant, variables: [:], root: root), .current, on: loop,
          deliveryTimeout: .seconds(9)
        ) { _, _ in
          payloads += 1
          return false
        }
        operation.start(deadline: loop.now + .seconds(9))
        while !operation.isOver {
          seen.append(payloads)
          operation.readerCaughtUp()
        }
        done.resume(returning: seen + [payloads])
      }
    }
    // One payload each time the reader has caught up: the first, then 32 items at a time.
    #expect(seen == [1, 2, 3, 4, 5])
  }

  @Test(.enabled(if: martlet_allocations_are_counted(), "a sanitizer has an allocator of its own"))
  func `an operation without parts allocates nothing for them`() throws {
    func allocations(_ schema: ExecutableSchema) throws -> UInt64 {
      let plan = try schema.prepare(Array("{ numbers }".utf8), operationName: nil)
      let root = ResolvedValue.value(["numbers": [1, 2, 3]])
      _ = plan.executeSynchronously(variables: [:], root: root)
      let before = martlet_thread_allocation_count()
      let result = plan.executeSynchronously(variables: [:], root: root)
      let after = martlet_thread_allocation_count()
      #expect(result?.data?.json == ["numbers": [1, 2, 3]])
      return after - before
    }
    let text = "type Query { numbers: [Int!] }"
    let plain = try allocations(try ExecutableSchema(text))
    #expect(try allocations(try ExecutableSchema(text, allowsIncrementalDelivery: true)) == plain)
    // Without optimisation: the execution, its tree of an object and a list, the positions on the way, the errors.
    #expect(plain <= 11)
  }
}
