import MartletGraphQLExecution
import MartletGraphQLLanguage
import MartletJSON
import Testing

/// Section 6.4.4 "Handling Execution Errors": how far a null travels, whichever way the resolver answers.
struct NullPropagationTests {
  enum Way: CaseIterable { case computed, waiting, batched }

  struct Row: Sendable, CustomTestStringConvertible {
    var type: String
    /// What the resolver answers.
    var values: JSONValue
    /// The whole `data` of the response.
    var data: JSONValue
    var path: JSONValue?

    var testDescription: String { "\(type) of \(values)" }
  }

  static let rows = [
    Row(type: "[Int]", values: [1, nil], data: ["list": [1, nil]]),
    Row(type: "[Int]", values: nil, data: ["list": nil]),
    Row(type: "[Int]", values: [1, "x"], data: ["list": [1, nil]], path: ["list", 1]),
    Row(type: "[Int!]", values: [1, nil], data: ["list": nil], path: ["list", 1]),
    Row(type: "[Int!]", values: [1, "x"], data: ["list": nil], path: ["list", 1]),
    Row(type: "[Int]!", values: [1, nil], data: ["list": [1, nil]]),
    Row(type: "[Int]!", values: nil, data: nil, path: ["list"]),
    Row(type: "[Int]!", values: 5, data: nil, path: ["list"]),
    Row(type: "[Int!]!", values: [1, 2], data: ["list": [1, 2]]),
    Row(type: "[Int!]!", values: [1, nil], data: nil, path: ["list", 1]),
    Row(type: "[[Int!]]", values: [[1, nil], [2]], data: ["list": [nil, [2]]], path: ["list", 0, 1]),
    Row(type: "[[Int!]!]", values: [[1, nil], [2]], data: ["list": nil], path: ["list", 0, 1]),
    Row(type: "[[Int!]!]!", values: [[1, nil], [2]], data: nil, path: ["list", 0, 1]),
  ]

  @Test(arguments: rows, Way.allCases)
  func `a null stops at the first position that may be null`(_ row: Row, _ way: Way) async throws {
    let schema = try ExecutableSchema.open("type Query { list: \(row.type) }") { schema in
      switch way {
      case .computed: schema.compute("Query", "list") { _ in row.values }
      case .waiting: schema.resolve("Query", "list") { _ in row.values }
      case .batched: schema.batch("Query", "list") { _ in [row.values] }
      }
    }
    let response = try await schema.answer("{ list }")
    #expect(response["data"] == Optional.some(row.data))
    #expect(response.paths == [row.path].compactMap { $0 })
  }

  @Test(arguments: Way.allCases)
  func `a null in a chain of objects removes the nearest object that may be null`(_ way: Way) async throws {
    let text = "type Query { a: A } type A { name: String! b: B! } type B { c: C } type C { deep: Int! }"
    let schema = try ExecutableSchema.open(text) { schema in
      schema.compute("Query", "a") { _ in JSONValue.object(["name": "x", "b": ["c": [:]]]) }
      switch way {
      case .computed: schema.compute("C", "deep") { _ in JSONValue.null }
      case .waiting: schema.resolve("C", "deep") { _ in JSONValue.null }
      case .batched: schema.batch("C", "deep") { _ in [JSONValue.null] }
      }
    }
    let response = try await schema.answer("{ a { name b { c { deep } } } }")
    #expect(response["data"] == ["a": ["name": "x", "b": ["c": nil]]])
    #expect(response.messages == ["Cannot return null for non-nullable field C.deep."])
  }

  @Test func `resolvers under a part that became null are not called`() async throws {
    let calls = Counter()
    let schema = try ExecutableSchema.open("type Query { a: A } type A { wait: A bad: Int! name: String }") { schema in
      schema.compute("Query", "a") { _ in JSONValue.object(["bad": nil]) }
      schema.resolve("A", "wait") { _ in
        calls.increment()
        return JSONValue.null
      }
    }
    let response = try await schema.answer("{ a { wait { name } bad } }")
    #expect(response["data"] == ["a": nil])
    #expect(calls.value == 0)
  }

  @Test func `a null from a late answer removes siblings that were already there`() async throws {
    let text = "type Query { a: A b: Int } type A { now: Int late: Int! later: Int }"
    let schema = try ExecutableSchema.open(text) { schema in
      schema.compute("Query", "a") { _ in JSONValue.object(["now": 1]) }
      schema.compute("Query", "b") { _ in 2 }
      schema.resolve("A", "late") { _ -> Int in throw ResolverError("too late") }
      schema.resolve("A", "later") { _ -> Int in throw ResolverError("later still") }
    }
    let response = try await schema.answer("{ a { now late later } b }")
    #expect(response["data"] == ["a": nil, "b": 2])
    #expect(response.paths.contains(["a", "late"]))
  }
}
