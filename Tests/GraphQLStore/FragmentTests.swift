import MartletGraphQLStore
import MartletJSON
import Testing

@Suite struct FragmentTests {
  static let schema = """
    type Query { pets: [Pet!]! cat: Cat }
    interface Pet { id: ID! name: String! }
    interface Loud { volume: Int }
    type Cat implements Pet { id: ID! name: String! lives: Int }
    type Dog implements Pet & Loud { id: ID! name: String! volume: Int }
    union Animal = Cat | Dog
    """
  static let document = """
    query { pets { ...Named ... on Cat { lives } ... on Loud { volume } } }
    fragment Named on Pet { id name }
    """
  static let data: JSONValue = [
    "pets": [
      ["__typename": "Cat", "id": "1", "name": "Tom", "lives": 9],
      ["__typename": "Dog", "id": "2", "name": "Rex", "volume": 4],
    ]
  ]
  static let result: JSONValue = [
    "pets": [["id": "1", "name": "Tom", "lives": 9], ["id": "2", "name": "Rex", "volume": 4]]
  ]

  @Test func `fragments apply by the schema's types`() throws {
    let bench = Bench { $0.schema = Self.schema }
    try bench.write(Self.document, Self.data)
    #expect(try bench.read(Self.document) == Self.result)
  }

  @Test func `fragments apply by configured possible types`() throws {
    let bench = Bench { $0.possibleTypes = ["Pet": ["Cat", "Dog"], "Loud": ["Dog"]] }
    try bench.write(Self.document, Self.data)
    #expect(try bench.read(Self.document) == Self.result)
  }

  @Test func `without either, the data decide which fragments apply, and that is remembered`() throws {
    let bench = Bench()
    try bench.write(Self.document, Self.data)
    #expect(try bench.read(Self.document) == Self.result)
    // A new object of a known type: its fragments are known before it was read with them.
    try bench.write("{ cat { id name lives } }", ["cat": ["__typename": "Cat", "id": "3", "name": "Kit", "lives": 7]])
    #expect(
      try bench.read("{ cat { ... on Loud { volume } ... on Pet { name } ... on Dog { volume } lives } }")
        == ["cat": ["name": "Kit", "lives": 7]])
  }

  @Test func `a fragment on an unknown type is a miss, never a wrong hit`() throws {
    let bench = Bench()
    try bench.write("{ cat { id } }", ["cat": ["__typename": "Cat", "id": "3"]])
    #expect(try bench.read("{ cat { id ... on Furry { hair } } }") == nil)
    try bench.write(
      "{ cat { id ... on Furry { hair } } }", ["cat": ["__typename": "Cat", "id": "3", "hair": "long"]])
    #expect(try bench.read("{ cat { id ... on Furry { hair } } }") == ["cat": ["id": "3", "hair": "long"]])
  }

  @Test func `selections of one field merge across fragments`() throws {
    let bench = Bench()
    let document =
      "{ cat { home { id } ...A ...B } } fragment A on Cat { home { street } } fragment B on Cat { home { city } }"
    let home: JSONValue = ["__typename": "Home", "id": 1, "street": "x", "city": "y"]
    try bench.write(document, ["cat": ["__typename": "Cat", "home": home]])
    #expect(try bench.read(document) == ["cat": ["home": ["id": 1, "street": "x", "city": "y"]]])
  }

  @Test func `requests are given the type's name below the root, and key fields the schema knows`() throws {
    let plain = Bench()
    #expect(
      try plain.store.requestDocument(for: "{ cat { lives } }") == "{\n  cat {\n    lives\n    __typename\n  }\n}\n")
    let knowing = Bench { $0.schema = Self.schema }
    let text = try knowing.store.requestDocument(for: "{ pets { name ... on Cat { lives } } }")
    #expect(text == "{\n  pets {\n    name\n    ... on Cat {\n      lives\n    }\n    __typename\n    id\n  }\n}\n")
    let leaf = try plain.store.requestDocument(for: "{ a b }")
    #expect(leaf == "{ a b }")
    let off = Bench { $0.addsIdentity = false }
    #expect(try off.store.requestDocument(for: "{ cat { lives } }") == "{ cat { lives } }")
  }

  @Test func `what a deferred fragment has not brought yet is a miss until it comes`() throws {
    let bench = Bench()
    let document = "{ cat { id ... @defer { lives } } }"
    try bench.write(document, ["cat": ["__typename": "Cat", "id": "1"]])
    #expect(try bench.read(document) == nil)
    try bench.write(document, ["cat": ["__typename": "Cat", "id": "1", "lives": 9]])
    #expect(try bench.read(document) == ["cat": ["id": "1", "lives": 9]])
  }

  @Test func `an invalid schema is reported at every use`() throws {
    let bench = Bench { $0.schema = "type Query { a: Int } type Query { b: Int }" }
    let error = #expect(throws: GraphQLStoreError.self) { try bench.read("{ a }") }
    #expect(error?.code == .invalidSchema)
    #expect(error?.description.contains("Query") == true)
  }
}
