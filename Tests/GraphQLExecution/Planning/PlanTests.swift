import MartletGraphQLExecution
import MartletGraphQLLanguage
import MartletJSON
import Testing

struct PlanTests {
  private static let text =
    "type Query { a: Int b: Int self: Query any: Any } union Any = Query | Other type Other { c: Int }"

  private func schema(_ limits: ExecutionLimits = ExecutionLimits()) throws -> ExecutableSchema {
    var resolvers = Resolvers()
    resolvers.use(.builtIn { _ in .value(["a": 1], type: "Query") }, "Query", "self")
    resolvers.use(.builtIn { _ in .value(["c": 2], type: "Other") }, "Query", "any")
    return try ExecutableSchema(try Schema.build(Self.text), resolvers: resolvers, limits: limits)
  }

  @Test func `equal requests share one plan`() throws {
    let schema = try schema()
    var cache = PlanCache<OperationPlan>(capacity: 10)
    let first = try schema.prepare(Array("{ a }".utf8), operationName: nil, cache: &cache)
    let second = try schema.prepare(Array("{ a }".utf8), operationName: nil, cache: &cache)
    let other = try schema.prepare(Array("{ b }".utf8), operationName: nil, cache: &cache)
    #expect(first === second)
    #expect(first !== other)
    #expect((cache.hits, cache.misses, cache.count) == (1, 2, 2))
  }

  @Test func `a full cache lets the plans go that were used least recently`() throws {
    let schema = try schema()
    var cache = PlanCache<OperationPlan>(capacity: 4)
    let documents = (0..<4).map { Array("{ x\($0): a }".utf8) }
    for document in documents { _ = try schema.prepare(document, operationName: nil, cache: &cache) }
    _ = cache.plan(document: documents[0], operation: nil)
    _ = try schema.prepare(Array("{ b }".utf8), operationName: nil, cache: &cache)
    #expect(cache.count == 3)
    #expect(cache.plan(document: documents[0], operation: nil) != nil)
    #expect(cache.plan(document: documents[1], operation: nil) == nil)
  }

  @Test func `the plan of a long document is made anew each time`() throws {
    var limits = ExecutionLimits()
    limits.cachedDocumentBytes = 10
    let schema = try schema(limits)
    var cache = PlanCache<OperationPlan>(capacity: 4)
    _ = try schema.prepare(Array("{ a b a b a }".utf8), operationName: nil, cache: &cache)
    #expect(cache.count == 0)
  }

  @Test func `introspection can be switched off`() async throws {
    let schema = try ExecutableSchema("type Query { a: Int }", allowsIntrospection: false)
    let response = try await schema.answer(#"{ __typename __type(name: "Query") { name } }"#)
    #expect(response["data"] == ["__typename": "Query", "__type": nil])
    #expect(response.messages == ["Introspection is switched off."])
  }

  @Test func `a request that announces too much is not executed`() async throws {
    var limits = ExecutionLimits()
    limits.complexity = 3
    let response = try await schema(limits).answer("{ self { self { self { a } } } }")
    #expect(response["data"] == nil)
    #expect(response.messages.count == 1)
  }

  @Test func `an invalid request is never kept`() throws {
    let schema = try schema()
    var cache = PlanCache<OperationPlan>(capacity: 4)
    #expect(throws: RequestErrors.self) {
      try schema.prepare(Array("{ nope }".utf8), operationName: nil, cache: &cache)
    }
    #expect(cache.count == 0)
  }

  @Test func `conditions make variants, a bounded number of them`() throws {
    let plan = try schema().prepare(
      Array("query Q($x: Boolean!, $y: Boolean!) { a @skip(if: $x) b @include(if: $y) }".utf8), operationName: nil)
    let both = plan.variant(for: ["x": false, "y": true])
    #expect(both.selection.fields.map(\.responseName) == ["a", "b"])
    #expect(plan.variant(for: ["x": true, "y": false]).selection.fields.isEmpty)
    #expect(plan.variant(for: ["x": false, "y": true]) === both)
  }

  @Test func `fields are merged in the order of their first appearance`() throws {
    let plan = try schema().prepare(
      Array("{ self { a } b ... on Query { self { b x: a } } ...F } fragment F on Query { self { self { a } } }".utf8),
      operationName: nil)
    let selection = plan.variant(for: [:]).selection
    #expect(selection.fields.map(\.responseName) == ["self", "b"])
    guard case .object(let inner)? = selection.fields.first?.content else {
      Issue.record("self is an object")
      return
    }
    #expect(inner.fields.map(\.responseName) == ["a", "b", "x", "self"])
  }

  @Test func `types beyond the planning limit are planned when a value has them`() throws {
    var limits = ExecutionLimits()
    limits.plannedFields = 2
    let schema = try schema(limits)
    let plan = try schema.prepare(
      Array("{ any { ... on Query { any { ... on Other { c } } } ... on Other { c } } }".utf8), operationName: nil)
    #expect(plan.variant(for: [:]).isPartial)
    #expect(plan.executeSynchronously(variables: [:])?.data?.json == ["any": ["c": 2]])
  }

  @Test(
    arguments: [
      ("query A { a } query B { b }", nil, "Must provide operation name if query contains multiple operations."),
      ("query A { a } query B { b }", "C", "Unknown operation named 'C'."),
    ] as [(String, String?, String)])
  func `the operation must be named when there are several`(_ document: String, _ name: String?, _ message: String)
    async throws
  {
    let response = try await schema().answer(document, operationName: name)
    #expect(response.messages == [message])
    #expect(response["data"] == nil)
  }
}
