import MartletGraphQLStore
import MartletJSON
import Testing

/// What a schema, or a part of one, does for finding out what is the same object.
@Suite struct IdentityTests {
  private static let schema = """
    type Query { find: [Found!] node: Node place: Place }
    interface Node { id: ID! }
    union Found = Ship | Port
    type Ship implements Node { id: ID! name: String databaseId: Int }
    type Port implements Node { id: ID! name: String }
    interface Place { code: String! name: String }
    type Airport implements Place { code: String! name: String }
    type Harbour implements Place { code: String! name: String }
    """

  @Test func `members of a union are asked for their key fields in fragments`() throws {
    let bench = Bench { $0.schema = Self.schema }
    let document = "{ find { ... on Ship { name } ...P } } fragment P on Port { name }"
    let text = try bench.store.requestDocument(for: document)
    #expect(
      text.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
        == "{ find { ... on Ship { name id } ...P __typename } } fragment P on Port { name id }")
    try bench.write(
      document,
      [
        "find": [
          ["__typename": "Ship", "id": "1", "name": "A"], ["__typename": "Port", "id": "1", "name": "B"],
        ]
      ])
    #expect(bench.store.usage.records == 3)
    #expect(try bench.read(document) == ["find": [["name": "A"], ["name": "B"]]])
  }

  @Test func `key fields of different types are not asked for where they would conflict`() throws {
    let bench = Bench {
      $0.schema = "type Query { find: Found } union Found = A | B type A { id: ID! x: Int } type B { id: Int! x: Int }"
    }
    let text = try bench.store.requestDocument(for: "{ find { ... on A { x } ... on B { x } } }")
    #expect(!text.contains("id"))
  }

  @Test func `a document that calls something else by a key field's name is asked for the key by another`() throws {
    let bench = Bench { $0.schema = Self.schema }
    let document = "{ node { ... on Ship { id: databaseId } } }"
    let text = try bench.store.requestDocument(for: document)
    #expect(text.contains("id: databaseId"))
    #expect(text.contains("key_id: id"))
    let sent: JSONValue = ["node": ["__typename": "Ship", "key_id": "7", "id": 70]]
    try bench.write(document, sent)
    #expect(try bench.read(document) == ["node": ["id": 70]])
    #expect(try bench.read("{ node { id } }") == ["node": ["id": "7"]])
  }

  @Test func `key fields of an interface are those of its objects`() async throws {
    let byName: @Sendable (inout GraphQLStoreConfiguration) -> Void = {
      $0.keyFields = ["Place": ["code"], "Harbour": ["name"]]
    }
    for bench in [
      Bench {
        byName(&$0)
        $0.schema = Self.schema
      },
      Bench {
        byName(&$0)
        $0.possibleTypes = ["Place": ["Airport", "Harbour"]]
      },
    ] {
      try bench.write(
        "{ place { code name } }", ["place": ["__typename": "Airport", "code": "VIE", "name": "Vienna"]])
      try bench.write(
        "{ other { code name } }", ["other": ["__typename": "Harbour", "code": "HAM", "name": "Hamburg"]])
      #expect(try await bench.record("Airport:VIE") != nil)
      #expect(try await bench.record("Harbour:Hamburg") != nil)
    }
  }

  @Test func `as much of a schema as is known is enough`() throws {
    let bench = Bench {
      $0.schema = """
        type Cat implements Pet @key(fields: "id") { id: ID! owner: Person born: AWSDate }
        union Beast = Cat | Dragon
        extend type Cat @aws_api_key { lives: Int }
        """
    }
    let document = "{ pets { ... on Pet { name } ... on Beast { teeth } ... on Person { mail } lives } }"
    try bench.write(document, ["pets": [["__typename": "Cat", "id": 1, "name": "Tom", "teeth": 9, "lives": 7]]])
    #expect(try bench.read("{ pets { ... on Pet { name } lives } }") == ["pets": [["name": "Tom", "lives": 7]]])
    // The objects of a type that is only mentioned are unknown: the data decide.
    try bench.write(
      "{ other { ... on Person { mail } name } }", ["other": ["__typename": "Employee", "mail": "x", "name": "Ann"]])
    #expect(
      try bench.read("{ other { ... on Person { mail } name } }") == ["other": ["mail": "x", "name": "Ann"]])
  }
}
