import Foundation
import MartletGenerateFiles
import MartletGenerator
import MartletGraphQLLanguage
import MartletJSON
import Testing

/// Where schemas come from, and operations made of them.
@Suite struct SchemaTests {
  private static let answer = #"""
    {"data":{"__schema":{"queryType":{"name":"Root"},"mutationType":null,"subscriptionType":null,
    "directives":[{"name":"skip","locations":["FIELD"],"args":[]},
      {"name":"cached","description":"Kept.","locations":["FIELD","MOON"],
       "args":[{"name":"seconds","defaultValue":"60","type":{"kind":"NON_NULL","ofType":{"kind":"SCALAR","name":"Int"}}}]}],
    "types":[
    {"kind":"OBJECT","name":"Root","interfaces":[],"fields":[
      {"name":"find","description":"Finds.","args":[{"name":"by","type":{"kind":"INPUT_OBJECT","name":"Key"}}],
       "type":{"kind":"LIST","ofType":{"kind":"NON_NULL","ofType":{"kind":"INTERFACE","name":"Node"}}},
       "isDeprecated":true,"deprecationReason":"Slow."}]},
    {"kind":"INTERFACE","name":"Node","fields":[{"name":"id","args":[],"type":{"kind":"SCALAR","name":"ID"}}]},
    {"kind":"OBJECT","name":"Leaf","interfaces":[{"name":"Node"}],
     "fields":[{"name":"id","args":[],"type":{"kind":"SCALAR","name":"ID"}}]},
    {"kind":"UNION","name":"Any_","possibleTypes":[{"name":"Leaf"}]},
    {"kind":"INPUT_OBJECT","name":"Key","isOneOf":true,"inputFields":[
      {"name":"id","type":{"kind":"SCALAR","name":"ID"}},{"name":"kind","type":{"kind":"ENUM","name":"Kind"}}]},
    {"kind":"ENUM","name":"Kind","enumValues":[{"name":"A"},{"name":"B","isDeprecated":true}]},
    {"kind":"SCALAR","name":"Moment"},{"kind":"SCALAR","name":"ID"},{"kind":"OBJECT","name":"__Type","fields":[]}]}}}
    """#

  @Test func `an introspection answer is read back into definitions`() throws {
    let document = try IntrospectionReader.document(from: try JSONValue(parsing: Self.answer))
    #expect(
      Printer.text(of: document) == """
        schema {
          query: Root
        }

        "Kept."
        directive @cached(seconds: Int! = 60) on FIELD

        type Root {
          "Finds."
          find(by: Key): [Node!] @deprecated(reason: "Slow.")
        }

        interface Node {
          id: ID
        }

        type Leaf implements Node {
          id: ID
        }

        union Any_ = Leaf

        input Key @oneOf {
          id: ID
          kind: Kind
        }

        enum Kind {
          A
          B @deprecated
        }

        scalar Moment

        """)
    let schema = try GenerateFolder.schema([SourceFile(name: "schema.json", text: Self.answer)])
    #expect(schema.type("Key")?.isOneOf == true)
  }

  @Test(arguments: [
    ("{}", "__schema.types is missing or no list"),
    (#"{"__schema":{"types":[]}}"#, "__schema.queryType is missing"),
    (
      #"{"__schema":{"queryType":{"name":"Q"},"types":[{"kind":"OBJECT","name":"Q","fields":[{"name":"a"}]}]}}"#,
      "types[0].fields[0].type is missing or has no kind"
    ),
    (
      #"{"__schema":{"queryType":{"name":"Q"},"types":[{"kind":"X","name":"Q"}]}}"#,
      "types[0] has the unknown kind \"X\""
    ),
  ])
  func `an answer that is not a schema is an error that names the member`(text: String, expected: String) throws {
    let error = #expect(throws: GenerationError.self) {
      try IntrospectionReader.document(from: try JSONValue(parsing: text))
    }
    #expect(error?.message == "The introspection answer is not a schema: \(expected).")
  }

  @Test func `both introspection queries are valid`() throws {
    let schema = try Schema.build("type Query { a: Int }")
    for text in [IntrospectionQuery.document, IntrospectionQuery.fullDocument] {
      #expect(Validator.validate(try Parser.parse(text), against: schema).isEmpty)
    }
  }

  @Test func `models are expanded, and their mistakes have places`() throws {
    let schema = try GenerateFolder.schema([SourceFile(name: "s", text: "type Todo @model { id: ID! name: String }")])
    #expect(schema.subscriptionType?.field("onCreateTodo") != nil)
    let error = #expect(throws: GenerationErrors.self) {
      try GenerateFolder.schema([SourceFile(name: "s.graphql", text: "type Todo @model {\n  name: Strin\n}")])
    }
    #expect(error?.errors.first?.description.hasPrefix("s.graphql:2:9: ") == true)
  }

  @Test func `a schema of several files has its mistakes in the right one`() throws {
    let error = #expect(throws: GenerationErrors.self) {
      try GenerateFolder.schema([
        SourceFile(name: "a.graphql", text: "type Query { b: B }\n"),
        SourceFile(name: "b.graphql", text: "\ntype B {\n  c: C\n}"),
      ])
    }
    #expect(error?.description == "b.graphql:3:6: Unknown type 'C'. Did you mean 'B'?")
  }

  // MARK: Schemas that are not the reader's to change

  @Test func `a schema as AppSync hands it out is understood`() throws {
    let schema = """
      schema { query: Query subscription: Subscription }
      type Query { todos(after: AWSDateTime): [Todo!] @aws_api_key }
      type Subscription { onCreateTodo: Todo @aws_subscribe(mutations: ["createTodo"]) }
      type Todo @aws_api_key @aws_cognito_user_pools { id: ID! at: AWSTimestamp body: AWSJSON }
      """
    let output = try Generator.generate(
      schema: try GenerateFolder.schema([SourceFile(name: "s", text: schema)]),
      operations: [SourceFile(name: "o", text: "query A($t: AWSDateTime) { todos(after: $t) { id at body } }")])
    #expect(output.files.first?.text.contains("var at: Int?") == true)
  }

  @Test func `directives of a federated schema need no definition, types do`() throws {
    let text = """
      extend schema @link(url: "https://example.com", import: ["@key"])
      type Query { me: User @tag(name: "x") }
      type User @key(fields: "id") { id: ID! @shareable }
      """
    #expect(try GenerateFolder.schema([SourceFile(name: "s", text: text)]).type("User") != nil)
    let error = #expect(throws: GenerationErrors.self) {
      try GenerateFolder.schema([SourceFile(name: "s.graphql", text: "type User { id: ID! }")])
    }
    #expect(error?.description == "s.graphql: The schema has no query root type.")
  }

  @Test func `defaults that do not fit, as in the introspection of some servers, are accepted`() throws {
    let text = #"""
      {"__schema":{"queryType":{"name":"Q"},"types":[
      {"kind":"ENUM","name":"Order","enumValues":[{"name":"UP"}]},
      {"kind":"OBJECT","name":"Q","fields":[{"name":"a","args":[
        {"name":"order","defaultValue":"\"UP\"","type":{"kind":"ENUM","name":"Order"}},
        {"name":"size","defaultValue":"<Size 3>","type":{"kind":"NON_NULL","ofType":{"kind":"SCALAR","name":"Int"}}}],
        "type":{"kind":"SCALAR","name":"Int"}}]}]}}
      """#
    let schema = try GenerateFolder.schema([SourceFile(name: "s.json", text: text)])
    let output = try Generator.generate(schema: schema, operations: [SourceFile(name: "o", text: "query A { a }")])
    #expect(output.selectedFields == 1)
  }

  @Test func `operations may ask for results in parts whatever the schema defines`() throws {
    let schema = try GenerateFolder.schema([SourceFile(name: "s", text: "type Query { a: A } type A { x: Int! }")])
    let output = try Generator.generate(
      schema: schema, operations: [SourceFile(name: "o", text: "query D { a { ... @defer { x } } }")])
    #expect(output.files.first?.text.contains("var x: Int?") == true)
  }

  // MARK: Operations from a schema

  @Test func `every root field becomes an operation with all its arguments`() throws {
    let schema = try GenerateFolder.schema([
      SourceFile(
        name: "s",
        text: """
          type Query { hero(id: ID!, kind: Kind = A): Being  find: [Thing]  todo: Int  deep: A }
          type Mutation { todo(text: String!): Int }
          type Subscription { "Arrivals." arrived(kind: Kind): Droid }
          enum Kind { A B }
          interface Being { name: String! }
          type Droid implements Being { name: String! model: Int old: Int @deprecated part(n: Int!): Int mate: Droid }
          type Human implements Being { name: String! model: String }
          union Thing = Droid | Human
          type A { b: B } type B { c: C x: Int } type C { y: Int }
          """)
    ])
    let files = SchemaOperations.documents(for: schema)
    #expect(
      files.map(\.name) == [
        "Hero.graphql", "Find.graphql", "Todo.graphql", "Deep.graphql", "TodoMutation.graphql", "Arrived.graphql",
      ])
    #expect(
      files[0].text == """
        query Hero($id: ID!, $kind: Kind) {
          hero(id: $id, kind: $kind) {
            __typename
            name
            ... on Droid {
              model
            }
          }
        }

        """)
    #expect(
      files[5].text == """
        "Arrivals."
        subscription Arrived($kind: Kind) {
          arrived(kind: $kind) {
            name
            model
          }
        }

        """)
    #expect(files[3].text.contains("b {\n      x\n    }"))
    // What is written is valid, and becomes Swift.
    let output = try Generator.generate(
      schema: schema, operations: files.map { SourceFile(name: $0.name, text: $0.text) })
    #expect(output.files.map(\.name).contains("TodoMutation.swift"))
  }

  // MARK: Files

  @Test func `settings that do not fit are all named`() throws {
    let error = #expect(throws: GenerationErrors.self) {
      try GenerateSettings(
        #"{"schema":1,"operations":[2],"access":"open","scalars":{"A":"no type"},"scalar":{},"descriptions":"x"}"#,
        file: "g.json")
    }
    #expect(
      error?.errors.map(\.description) == [
        "g.json: \"schema\" must be text or a list of texts.",
        "g.json: \"operations\" must be text or a list of texts.",
        "g.json: \"access\" must be one of \"internal\", \"package\", \"public\".",
        "g.json: The scalar \"A\" must be a Swift type, such as \"URL\" or {\"type\": \"URL\", \"module\": \"Foundation\"}.",
        "g.json: Unknown setting \"scalar\": schema, operations, output, access, scalars, typeNames, descriptions, models or module.",
        "g.json: \"descriptions\" must be true or false.",
      ])
  }

  @Test func `the client's module can be the one without WebSockets, and no other`() throws {
    for module in ["Martlet", "MartletHTTP"] {
      let settings = try GenerateSettings(#"{"module":"\#(module)"}"#, file: "g.json")
      let text = try Made.text("AQuery", "type Query { a: Int }", "query A { a }", configuration: settings.generator)
      #expect(text.split(separator: "\n").filter { $0.hasPrefix("import ") } == ["import \(module)"])
    }
    let error = #expect(throws: GenerationErrors.self) { try GenerateSettings(#"{"module":"Other"}"#, file: "g.json") }
    #expect(
      error?.errors.map(\.description) == [#"g.json: "module" must be "Martlet" or "MartletHTTP"."#])
  }

  @Test func `patterns choose files, and stale ones of ours are removed`() throws {
    let folder = try Place.temporary()
    defer { try? FileManager.default.removeItem(at: folder) }
    func write(_ text: String, _ path: String) throws {
      let url = folder.appendingPathComponent(path)
      try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: url)
    }
    try write("type Query { a: Int }", "schema.graphql")
    try write("query A { a }", "x/y/A.graphql")
    try write("query B { a }", "B.graphql")
    try write("query C { a }", ".build/C.graphql")
    try write("struct Mine {}", "Generated/Mine.swift")
    var generate = GenerateFolder(folder.path, settings: GenerateSettings())
    #expect(generate.operationPaths() == ["B.graphql", "x/y/A.graphql"])
    let schema = try generate.schema()
    let first = try generate.write(try generate.generate(schema))
    #expect(first.written.count == 2)
    generate.settings.operations = ["?.graph*"]
    #expect(generate.operationPaths() == ["B.graphql"])
    let output = try generate.generate(schema)
    #expect(generate.changes(output).map { $0.split(separator: "/").last } == ["AQuery.swift"])
    let second = try generate.write(output)
    #expect(second.written.isEmpty)
    #expect(second.unchanged == 1)
    #expect(second.removed.map { $0.split(separator: "/").last } == ["AQuery.swift"])
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.appendingPathComponent("Generated").path)
    #expect(left.sorted() == ["BQuery.swift", "Mine.swift"])
  }
}
