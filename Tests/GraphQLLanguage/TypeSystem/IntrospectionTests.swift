import MartletGraphQLLanguage
import Testing

@Suite struct `Introspection of a schema` {
  static let source = """
    "air" schema { query: Q }
    type Q implements N { id: ID! old(a: Int = 1, b: In @deprecated): [Q!] @deprecated }
    interface N { id: ID! }
    union U = Q
    "which" enum E { A B @deprecated(reason: "no") }
    input In @oneOf { a: Int @deprecated b: E }
    scalar Date @specifiedBy(url: "https://example.org/date")
    directive @d(a: Date) repeatable on FIELD | QUERY
    """

  private func show(_ value: IntrospectionValue, _ schema: Schema) -> String {
    switch value {
    case .null: "null"
    case .boolean(let flag): "\(flag)"
    case .string(let text): "'\(text)'"
    case .name(let name): name
    case .names(let names): names.joined(separator: " ")
    case .node(let node): show(node, schema)
    case .nodes(let nodes): nodes.map { show($0, schema) }.joined(separator: " ")
    }
  }

  private func show(_ node: IntrospectionNode, _ schema: Schema) -> String {
    switch node {
    case .schema: "schema"
    case .type(let type): schema.describe(type)
    case .field(let field): field.name
    case .input(let input): input.name
    case .enumValue(let value): value.name
    case .directive(let directive): "@" + directive.name
    }
  }

  @Test(arguments: [
    ("Q", "kind", false, "OBJECT"), ("Q", "fields", false, "id"), ("Q", "fields", true, "id old"),
    ("Q", "interfaces", false, "N"), ("Q", "possibleTypes", false, "null"), ("N", "possibleTypes", false, "Q"),
    ("U", "possibleTypes", false, "Q"), ("U", "fields", false, "null"), ("U", "interfaces", false, "null"),
    ("N", "interfaces", false, ""), ("E", "description", false, "'which'"), ("E", "enumValues", false, "A"),
    ("E", "enumValues", true, "A B"), ("In", "inputFields", false, "b"), ("In", "inputFields", true, "a b"),
    ("In", "isOneOf", false, "true"), ("Q", "isOneOf", false, "null"), ("Q", "ofType", false, "null"),
    ("Date", "specifiedByURL", false, "'https://example.org/date'"), ("Date", "kind", false, "SCALAR"),
    ("__Type", "name", false, "'__Type'"), ("__TypeKind", "kind", false, "ENUM"),
    ("Date", "__typename", false, "'__Type'"),
  ])
  func `shows named types`(name: String, field: String, includeDeprecated: Bool, expected: String) throws {
    let schema = try Schema.build(Self.source)
    guard case .node(let node) = Introspection.type(name, in: schema) else {
      Issue.record("\(name) is missing")
      return
    }
    let value = Introspection.value(of: field, on: node, includeDeprecated: includeDeprecated, in: schema)
    #expect(show(value, schema) == expected)
  }

  @Test func `shows wrappers from the outside in`() throws {
    let schema = try Schema.build(Self.source)
    let field = try #require(schema.queryType?.field("old"))
    var shown: [String] = []
    var node: IntrospectionNode? = .type(field.type)
    while let current = node {
      shown.append(
        show(Introspection.value(of: "kind", on: current, includeDeprecated: false, in: schema), schema))
      switch Introspection.value(of: "ofType", on: current, includeDeprecated: false, in: schema) {
      case .node(let inner): node = inner
      default: node = nil
      }
    }
    #expect(shown == ["LIST", "NON_NULL", "OBJECT"])
  }

  @Test func `shows the schema, its directives and members`() throws {
    let schema = try Schema.build(Self.source)
    func value(_ field: String, _ node: IntrospectionNode, _ deprecated: Bool = false) -> String {
      show(Introspection.value(of: field, on: node, includeDeprecated: deprecated, in: schema), schema)
    }
    #expect(value("description", .schema) == "'air'")
    #expect(value("queryType", .schema) == "Q")
    #expect(value("mutationType", .schema) == "null")
    #expect(value("directives", .schema) == "@d @include @skip @deprecated @specifiedBy @oneOf")
    let directive = try #require(schema.directive("d"))
    #expect(value("locations", .directive(directive)) == "FIELD QUERY")
    #expect(value("isRepeatable", .directive(directive)) == "true")
    let old = try #require(schema.queryType?.field("old"))
    #expect(value("args", .field(old)) == "a")
    #expect(value("args", .field(old), true) == "a b")
    #expect(value("deprecationReason", .field(old)) == "'No longer supported'")
    #expect(value("defaultValue", .input(try #require(old.argument("a")))) == "'1'")
    #expect(value("defaultValue", .input(try #require(old.argument("b")))) == "null")
    #expect(show(Introspection.type("Nope", in: schema), schema) == "null")
    // Int is referred to, Float is not.
    #expect(schema.type("Int") != nil)
    #expect(schema.type("Float") == nil)
  }
}
