import MartletJSON
import MartletServer
import Testing

@Suite(.timeLimit(.minutes(1))) struct ResolverErrorTests {
  private struct DiskIsFull: Error {}

  private static let schema = """
    type Query { forecast: Forecast told: String }
    type Forecast { days: [Day!] }
    type Day { celsius: Int }
    type Subscription { ticks: Int }
    """

  private static func attach(_ resolvers: inout Resolvers) {
    resolvers.compute("Query", "forecast") { _ in ["days": [["celsius": 1], ["celsius": 2]]] as JSONValue }
    resolvers.compute("Day", "celsius") { request in
      if request.parent("celsius") == 2 { throw DiskIsFull() }
      return 1
    }
    resolvers.resolve("Query", "told") { _ -> JSONValue in throw ResolverError("There is none.") }
    resolvers.stream("Subscription", "ticks") { _ -> AsyncThrowingStream<JSONValue, any Error> in throw DiskIsFull() }
  }

  /// The answers to three requests, and what the log has of them.
  private static func ask(
    key: String? = nil, _ adjust: @Sendable (inout ServerConfiguration) throws -> Void
  ) async throws -> (messages: [String], log: [Log.Entry]) {
    let recorder = LogRecorder()
    var messages: [String] = []
    try await Served.with(
      schema,
      {
        $0.resolvers = attach
        $0.log = recorder.log
        try adjust(&$0)
      }
    ) { server in
      for document in ["query Week { forecast { days { celsius } } }", "{ told }"] {
        let answer = try await HTTPRequest.graphql(
          document, port: server.port, headers: key.map { [("x-api-key", $0)] } ?? [])
        messages += answer.json["errors"]?.array?.compactMap { $0["message"]?.string } ?? []
      }
    }
    return (messages, recorder.entries.filter { $0.message == "A resolver failed." })
  }

  @Test func `an error of a resolver is logged once with field, path, operation and text, and shown in development`()
    async throws
  {
    let (messages, log) = try await Self.ask { _ in }
    #expect(messages == ["DiskIsFull()", "There is none."])
    #expect(log.count == 1)
    #expect(log.first?.level == .error)
    #expect(
      log.first?.metadata.map { "\($0.key.rawValue)=\($0.value)" } == [
        "field=Day.celsius", "path=forecast.days.1.celsius", "operation=Week", "reason=DiskIsFull()",
      ])
  }

  @Test func `clients with keys see the mask, and the log has the text`() async throws {
    let (messages, log) = try await Self.ask(key: "k") { $0.access = .keys(try Served.access("k")) }
    #expect(messages == ["Internal error.", "There is none."])
    #expect(log.count == 1)
    let (shown, _) = try await Self.ask(key: "k") {
      $0.access = .keys(try Served.access("k"))
      $0.errorExposure = .messages
    }
    #expect(shown == ["DiskIsFull()", "There is none."])
  }

  @Test func `a source that cannot be opened is logged`() async throws {
    let recorder = LogRecorder()
    try await Served.with(
      Self.schema,
      {
        $0.resolvers = Self.attach
        $0.log = recorder.log
      }
    ) { server in
      let socket = try await RawSocket.session(port: server.port)
      socket.subscribe("1", "subscription Clock { ticks }")
      let error = try await socket.message("error")
      #expect(error["payload"]?[0]?["message"] == "DiskIsFull()")
    }
    let entry = recorder.entries.first { $0.message == "A resolver failed." }
    #expect(
      entry?.metadata.map(\.value) == ["Subscription.ticks", "ticks", "Clock", "DiskIsFull()"])
  }

  @Test(arguments: [
    ("type Query { a: Int b: Int }", "Query.b has no resolver."),
    ("type Query { a: Int } type Mutation { c: Int d: Int }", "Mutation.c, Mutation.d have no resolvers."),
    ("type Query { a: Int } type Subscription { e: Int }", "Subscription.e has no resolver."),
    ("type T @model { id: ID! } type Query { a: Int b: Int }", "Query.b has no resolver."),
  ])
  func `a root field that nothing answers refuses the start by its name`(schema: String, message: String) {
    var configuration = ServerConfiguration(schema: schema)
    configuration.access = .development
    configuration.resolvers = { $0.compute("Query", "a") { _ in 1 } }
    #expect {
      try GraphQLServer(configuration)
    } throws: { error in
      (error as? ServerError)?.code == .schema && "\(error)".hasPrefix(message)
    }
  }

  @Test func `a transaction returns what its closure returns`() async throws {
    try await Served.with("type Note @model { id: ID! text: String }") { server in
      let note = try await server.transaction { try $0.create("Note", ["text": "a"]) }
      #expect(note["text"] == "a")
      let count = try await server.transaction { transaction in
        try transaction.get("Note", ["id": note["id"] ?? .null]) == nil ? 0 : 1
      }
      #expect(count == 1)
    }
  }
}
