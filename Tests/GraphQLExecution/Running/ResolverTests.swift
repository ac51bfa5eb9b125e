import MartletGraphQLExecution
import MartletGraphQLLanguage
import MartletJSON
import Testing

struct ResolverTests {
  private static let library = """
    type Query { books: [Book!]! node: Node }
    interface Node { id: ID! }
    type Book implements Node { id: ID! title: String! author: Author }
    type Author implements Node { id: ID! name: String! books: [Book!]! }
    """

  private static let books: JSONValue = [
    ["id": "1", "title": "One", "writer": "a"], ["id": "2", "title": "Two", "writer": "b"],
    ["id": "3", "title": "Three", "writer": "a"],
  ]

  @Test func `a batched resolver is called once for all parents of a level`() async throws {
    let (calls, parents) = (Counter(), Counter())
    let schema = try ExecutableSchema.open(Self.library) { schema in
      schema.compute("Query", "books") { _ in Self.books }
      schema.batch("Book", "author") { request in
        calls.increment()
        parents.increment(by: request.sources.count)
        return request.sources.map { source -> JSONValue in
          let name = source.json?["writer"]?.string ?? ""
          return ["id": .string(name), "name": .string(name.uppercased())]
        }
      }
      schema.batch("Author", "books") { request in
        calls.increment()
        return request.sources.map { _ in Self.books }
      }
    }
    let response = try await schema.answer("{ books { author { name books { author { name } } } } }")
    // Authors of 3 books, books of 3 authors, authors of 9 books.
    #expect(calls.value == 3)
    #expect(parents.value == 12)
    #expect(response["data"]?["books"]?[1]?["author"]?["books"]?[2]?["author"]?["name"] == "A")
  }

  @Test func `a batch waits until waiting resolvers have found all its parents`() async throws {
    let batches = Diary()
    let schema = try ExecutableSchema.open(
      "type Query { list: [Link] } type Link { item: Item } type Item { name: String }"
    ) { schema in
      schema.compute("Query", "list") { _ in JSONValue.array([["k": 1], ["k": 2], ["k": 3]]) }
      schema.resolve("Link", "item") { request in
        await Task.yield()
        return JSONValue.object(["key": request.parent("k") ?? .null])
      }
      schema.batch("Item", "name") { request in
        batches.write("\(request.sources.count)")
        return request.sources.map { "n\($0.json?["key"]?.int ?? 0)" }
      }
    }
    let response = try await schema.answer("{ list { item { name } } }")
    let names = (response["data"]?["list"]?.array ?? []).map { $0["item"]?["name"] }
    #expect(names == ["n1", "n2", "n3"])
    #expect(batches.entries == ["3"])
  }

  @Test func `waiting resolvers of siblings run at the same time`() async throws {
    let gate = Gate(size: 3)
    let schema = try ExecutableSchema.open("type Query { a: Int b: Int c: Int }") { schema in
      for (index, field) in ["a", "b", "c"].enumerated() {
        schema.resolve("Query", field) { _ in
          // None passes before all three have arrived.
          await gate.pass()
          return index
        }
      }
    }
    let response = try await schema.answer("{ a b c }")
    #expect(response == ["data": ["a": 0, "b": 1, "c": 2]])
  }

  @Test func `a batched resolver with the wrong number of answers is an error at every parent`() async throws {
    let schema = try ExecutableSchema.open(Self.library) { schema in
      schema.compute("Query", "books") { _ in Self.books }
      schema.batch("Book", "author") { _ in [JSONValue.null] }
    }
    let response = try await schema.answer("{ books { author { id } } }")
    #expect(response.paths == [["books", 0, "author"], ["books", 1, "author"], ["books", 2, "author"]])
    #expect(response.messages.first == "The resolver of 'Book.author' gave 1 values for 3 parents.")
  }

  @Test func `fields without a resolver read members, properties and slots`() throws {
    struct Own: ResolvedObject {
      func value(of field: String) -> ResolvedValue { .value(.string("own \(field)")) }
    }
    var resolvers = Resolvers()
    resolvers.use(.builtIn { _ in .object(Own()) }, "Query", "own")
    resolvers.use(.builtIn { _ in .value(["x": "member"]) }, "Query", "json")
    resolvers.use(.builtIn { _ in .record(RecordValue(typeName: "T", slots: [0, "slot"])) }, "Query", "record")
    resolvers.slots["T"] = ["x": 1]
    let schema = try ExecutableSchema(
      try Schema.build("type Query { own: T json: T record: T } type T { x: String }"), resolvers: resolvers)
    let plan = try schema.prepare(Array("{ own { x } json { x } record { x } }".utf8), operationName: nil)
    let result = try #require(plan.executeSynchronously(variables: [:]))
    #expect(result.data?.json == ["own": ["x": "own x"], "json": ["x": "member"], "record": ["x": "slot"]])
  }

  @Test func `the type of an interface comes from a type resolver where the value does not say it`() async throws {
    let schema = try ExecutableSchema.open(Self.library) { schema in
      schema.compute("Query", "node") { _ in JSONValue.object(["id": "7", "name": "Ada"]) }
      schema.type(of: "Node") { value in value.json?["name"] == nil ? "Book" : "Author" }
    }
    let response = try await schema.answer("{ node { __typename id ... on Author { name } ... on Book { title } } }")
    #expect(response == ["data": ["node": ["__typename": "Author", "id": "7", "name": "Ada"]]])
  }

  @Test func `messages of unexpected errors are masked and those for clients are not`() async throws {
    struct Secret: Error {}
    let text = "type Query { a: Int b: Int }"
    let configure = { (schema: inout Resolvers) in
      schema.compute("Query", "a") { _ -> Int in throw Secret() }
      schema.compute("Query", "b") { _ -> Int in throw ResolverError("No b.", extensions: ["code": "B"]) }
    }
    let masked = try await ExecutableSchema(text, configure: configure).answer("{ a b }")
    #expect(masked.messages == ["Internal error.", "No b."])
    #expect(masked["errors"]?[1]?["extensions"] == ["code": "B"])
    #expect(masked["errors"]?[0]?["extensions"] == nil)
    let shown = try await ExecutableSchema(text, exposure: .messages, configure: configure).answer("{ a b }")
    #expect(shown.messages == ["Secret()", "No b."])
  }

  @Test func `errors beyond the limit are counted, not kept`() async throws {
    var limits = ExecutionLimits()
    limits.errors = 3
    let schema = try ExecutableSchema.open("type Query { list: [Int] }", limits: limits) { schema in
      schema.compute("Query", "list") { _ in Array(repeating: "x", count: 10) }
    }
    let response = try await schema.answer("{ list }")
    #expect(response.messages.count == 4)
    #expect(response.messages.last == "7 more errors were left out of this response.")
  }

  @Test func `a list longer than the limit fails instead of filling memory`() async throws {
    var limits = ExecutionLimits()
    limits.listItems = 5
    let schema = try ExecutableSchema.open("type Query { list: [Int] }", limits: limits) { schema in
      schema.compute("Query", "list") { _ in Array(0..<6) }
    }
    let response = try await schema.answer("{ list }")
    #expect(response["data"]?["list"]?.isNull == true)
    #expect(response.messages == ["The response has more than 5 list items."])
  }

  @Test func `a resolver sees its arguments, parent, context and path`() async throws {
    let diary = Diary()
    let schema = try ExecutableSchema.open(
      "type Query { list: [T] } type T { f(a: Int = 4, b: String): Int }"
    ) { schema in
      schema.compute("Query", "list") { _ in JSONValue.array([["k": 1], ["k": 2]]) }
      schema.compute("T", "f") { request in
        let user = request.context.value(as: String.self) ?? ""
        diary.write("\(user) \(request.typeName).\(request.fieldName) \(request.arguments.count) \(request.path)")
        return (request.int("a") ?? 0) + Int(request.parent("k")?.int ?? 0)
      }
    }
    let response = try await schema.answer("{ list { x: f } }", context: RequestContext(value: "me"))
    #expect(response == ["data": ["list": [["x": 5], ["x": 6]]]])
    #expect(diary.entries.count == 2)
    #expect(diary.entries.first?.hasPrefix("me T.f 1 [") == true)
  }

  @Test func `code for unknown types and fields is refused when the schema is made`() throws {
    let error = #expect(throws: ExecutableSchemaError.self) {
      try ExecutableSchema("type Query { a: Int }") { schema in
        schema.compute("Query", "b") { _ in 1 }
        schema.compute("Nothing", "a") { _ in 1 }
        schema.scalar("Date")
      }
    }
    #expect(error?.errors.count == 3)
  }
}
