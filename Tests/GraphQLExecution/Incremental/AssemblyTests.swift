import MartletGraphQLExecution
import MartletJSON
import Testing

/// Whatever is deferred or streamed, the parts put together are the whole response.
@Suite struct AssemblyTests {
  static let documents = [
    "{ hero { id ... @defer { name later } } }",
    "{ ... @defer { hero { id name } } hero { id } }",
    "{ hero { ...A @defer ...B @defer } } fragment A on Hero { id name later } fragment B on Hero { name rank later }",
    "{ hero { ... @defer { name ... @defer { later home { city ... @defer { planet } } } } home { city } } }",
    "{ heroes(count: 5) { id ... @defer(label: \"rest\") { rank later best { rank } } } }",
    "{ ... @defer { heroes { name friends { name ... @defer { later rank } } } } heroes { friends { id } } }",
    "{ names @stream grid @stream(initialCount: 1) }",
    "{ heroes(count: 40) @stream(initialCount: 2) { id later rank ... @defer { name best { later } } } }",
    "{ feed @stream(initialCount: 1) { id ... @defer { later } friends @stream { id rank } } }",
    "{ hero { friends @stream { id } ... @defer { friends @stream { id } best { later } } best { id } } }",
    "{ hero { ... @defer { home { city } friends { id } } ... @defer { home { planet later } } } }",
    "{ hero { ...F } } fragment F on Hero { id ...G @defer best { ...G @defer } } fragment G on Hero { name later }",
    "{ person { id ... @defer { name } ... on Hero @defer { later best { name } } } }",
    "mutation { a: rename(name: \"x\") { id ... @defer { later } } b: rename { name ... @defer { rank } } }",
    "{ maybe @stream { id ... @defer { later } } }",
    "{ ... @defer { a: hero { id } } ... @defer { a: hero { name } } ... @defer { b: hero { id ... @defer { name } } } }",
  ]

  @Test(arguments: documents)
  func `the parts are the whole`(document: String) async throws {
    let schema = try Heroes.schema()
    let whole = try await schema.answer(document)
    let parts = try await schema.parts(document)
    let assembly = Assembly(parts)
    #expect(parts.count > 1)
    #expect(assembly.faults == [])
    #expect(Assembly.sorted(assembly.data) == Assembly.sorted(whole["data"] ?? .null))
    #expect(assembly.errors == whole["errors"]?.array?.count ?? 0)
  }

  @Test(arguments: documents)
  func `the parts are the same each time`(document: String) async throws {
    let schema = try Heroes.schema()
    let first = try await schema.parts(document)
    let second = try await schema.parts(document)
    #expect(first.first == second.first)
    #expect(Assembly(second).faults == [])
  }

  @Test func `without incremental delivery the directives do not exist`() async throws {
    let schema = try ExecutableSchema.open("type Query { a: String }")
    let parts = try await schema.parts("{ ... @defer { a } }")
    #expect(parts.count == 1)
    #expect(parts[0].messages == ["Unknown directive '@defer'."])
  }
}
