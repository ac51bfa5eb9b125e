import MartletGraphQLExecution
import MartletGraphQLLanguage
import MartletJSON
import Synchronization
import Testing

struct SourceStreamTests {
  private static let text = """
    type Query { a: Int }
    type Subscription { ticks(from: Int = 1): Tick closed: Int none: Int }
    type Tick { number: Int! double: Int }
    """

  private func schema(_ stream: @escaping @Sendable () -> AsyncStream<JSONValue>) throws -> ExecutableSchema {
    try ExecutableSchema.open(Self.text) { schema in
      schema.stream("Subscription", "ticks") { _ in stream() }
      schema.stream("Subscription", "closed") { _ -> AsyncStream<JSONValue> in throw ResolverError("Not open.") }
      schema.resolve("Tick", "double") { request in Int(request.parent("number")?.int ?? 0) * 2 }
    }
  }

  @Test func `each event becomes one response, and the end of the source ends the stream`() async throws {
    let terminations = Diary()
    let schema = try schema {
      AsyncStream { continuation in
        continuation.onTermination = { terminations.write("\($0)") }
        for number in 1...3 { continuation.yield(["number": .int(Int64(number))]) }
        continuation.yield([:])
        continuation.finish()
      }
    }
    var responses: [JSONValue] = []
    for await response in try await schema.subscribe("subscription { ticks { number double } }") {
      responses.append(try JSONValue(parsing: response.bytes))
    }
    #expect(responses.count == 4)
    #expect(responses.first == ["data": ["ticks": ["number": 1, "double": 2]]])
    #expect(responses.last?["data"] == ["ticks": nil])
    #expect(responses.last?.messages == ["Cannot return null for non-nullable field Tick.number."])
    #expect(terminations.entries == ["finished"])
  }

  @Test func `a reader that leaves lets the source go exactly once`() async throws {
    let terminations = Diary()
    let schema = try schema {
      AsyncStream { continuation in
        continuation.onTermination = { terminations.write("\($0)") }
        for number in 1...10 { continuation.yield(["number": .int(Int64(number))]) }
      }
    }
    for await _ in try await schema.subscribe("subscription { ticks { number } }") { break }
    #expect(terminations.entries == ["cancelled"])
  }

  @Test func `cancelling the reading task lets the source go exactly once`() async throws {
    let terminations = Diary()
    let (first, firstSeen) = AsyncStream.makeStream(of: Void.self)
    let schema = try schema {
      AsyncStream { continuation in
        continuation.onTermination = { terminations.write("\($0)") }
        continuation.yield(["number": 1])
      }
    }
    let reader = Task {
      var count = 0
      for await _ in try await schema.subscribe("subscription { ticks { number } }") {
        count += 1
        firstSeen.yield()
      }
      return count
    }
    for await _ in first { break }
    reader.cancel()
    #expect(try await reader.value == 1)
    #expect(terminations.entries == ["cancelled"])
  }

  @Test func `a source that cannot be opened is a response without data`() async throws {
    let schema = try schema { AsyncStream { $0.finish() } }
    for (document, message) in [
      ("subscription { closed }", "Not open."),
      ("subscription { none }", "The subscription field 'Subscription.none' has no source stream."),
      ("{ a }", "Expected subscription operation."),
      ("subscription { elsewhere }", "Cannot query field 'elsewhere' on type 'Subscription'."),
    ] {
      let error = await #expect(throws: SubscriptionError.self) { try await schema.subscribe(document) }
      let response = try JSONValue(parsing: try #require(error).response.bytes)
      #expect(response["data"] == nil)
      #expect(response.messages == [message])
    }
  }

  @Test func `a source that fails ends the stream with one response that says so`() async throws {
    struct Broken: AsyncSequence, Sendable {
      func makeAsyncIterator() -> Iterator { Iterator() }
      struct Iterator: AsyncIteratorProtocol {
        var isFirst = true
        mutating func next() async throws -> JSONValue? {
          defer { isFirst = false }
          if isFirst { return 7 }
          throw ResolverError("The source broke.")
        }
      }
    }
    let schema = try ExecutableSchema.open(Self.text) { schema in
      schema.stream("Subscription", "closed") { _ in Broken() }
    }
    var responses: [JSONValue] = []
    for await response in try await schema.subscribe("subscription { closed }") {
      responses.append(try JSONValue(parsing: response.bytes))
    }
    #expect(responses.count == 2)
    #expect(responses.first == ["data": ["closed": 7]])
    #expect(responses.last?.messages == ["The source broke."])
  }
}
