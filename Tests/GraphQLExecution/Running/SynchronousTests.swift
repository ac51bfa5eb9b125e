import MartletGraphQLExecution
import MartletGraphQLLanguage
import MartletJSON
import Testing

/// What loops do: built-in operations without a task.
struct SynchronousTests {
  private static let text = "type Query { now: Int later: [Int] mine: Int } type Mutation { write(n: Int!): Int }"

  private func schema() throws -> ExecutableSchema {
    var resolvers = Resolvers()
    resolvers.use(.builtIn { _ in .value(1) }, "Query", "now")
    resolvers.use(
      .callback { request, completion in completion(request.sources.map { _ in .success(.value([1, 2])) }) },
      "Query", "later")
    resolvers.use(
      .callback { request, completion in
        completion(request.sources.map { _ in .success(.value(request.arguments["n"] ?? .null)) })
      }, "Mutation", "write")
    resolvers.compute("Query", "mine") { _ in 3 }
    return try ExecutableSchema(try Schema.build(Self.text), resolvers: resolvers, exposure: .messages)
  }

  @Test func `an operation of built-in fields runs in one call`() throws {
    let plan = try schema().prepare(
      Array("query Q($f: Boolean = true) { now again: now @include(if: $f) }".utf8), operationName: nil)
    let result = try #require(plan.executeSynchronously(variables: [:]))
    #expect(String(decoding: result.bytes, as: UTF8.self) == #"{"data":{"now":1,"again":1}}"#)
    let short = try #require(plan.executeSynchronously(variables: ["f": false]))
    #expect(String(decoding: short.bytes, as: UTF8.self) == #"{"data":{"now":1}}"#)
  }

  @Test func `an operation that waits or runs user code refuses to run in one call`() throws {
    for document in ["{ later }", "{ mine }", "{ now mine }"] {
      let plan = try schema().prepare(Array(document.utf8), operationName: nil)
      #expect(plan.executeSynchronously(variables: [:]) == nil)
    }
  }

  @Test func `a request error has no data member`() throws {
    let plan = try schema().prepare(Array("query Q($f: Boolean!) { now @skip(if: $f) }".utf8), operationName: nil)
    let result = try #require(plan.executeSynchronously(variables: ["f": "yes"]))
    let response = try JSONValue(parsing: result.bytes)
    #expect(response["data"] == nil)
    #expect(
      response.messages == ["Variable '$f' has invalid value: Boolean cannot represent a non boolean value: \"yes\""])
  }

  @Test func `a loop drives fields that answer by callback without a task`() throws {
    let plan = try schema().prepare(
      Array("mutation { a: write(n: 1) b: write(n: 2) }".utf8), operationName: nil)
    let execution = Execution(plan, variant: plan.variant(for: [:]), variables: [:])
    execution.start()
    var calls = 0
    while !execution.isFinished {
      let works = execution.takeWork()
      // Serial: one write at a time.
      #expect(works.count == 1)
      for work in works {
        calls += 1
        let id = work.id
        let answers = Answers()
        #expect(work.performWithoutTask { answers.keep($0) })
        execution.complete(id, answers.kept)
      }
    }
    #expect(calls == 2)
    #expect(execution.result.data?.json == ["a": 1, "b": 2])
  }

  @Test func `what is still waited for when a run is abandoned does not reach the response`() throws {
    let plan = try schema().prepare(Array("{ now later }".utf8), operationName: nil)
    let execution = Execution(plan, variant: plan.variant(for: [:]), variables: [:])
    execution.start()
    let works = execution.takeWork()
    execution.abandon("The deadline has passed.")
    #expect(execution.isFinished)
    execution.complete(try #require(works.first).id, [.success(.value([1]))])
    #expect(execution.result.data?.json == JSONValue.null)
    #expect(execution.result.errors.map(\.error.message) == ["The deadline has passed."])
  }
}

/// Keeps the answers of a call that is completed at once.
private final class Answers: @unchecked Sendable {
  // `@unchecked Sendable` holds: the test's callbacks complete on the calling thread.
  private(set) var kept: ResolverResults = []

  func keep(_ results: ResolverResults) { kept = results }
}
