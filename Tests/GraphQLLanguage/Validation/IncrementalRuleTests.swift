import MartletGraphQLLanguage
import Testing

/// The rules of `@defer` and `@stream`, which hold only in schemas that ask for the directives.
@Suite struct IncrementalRuleTests {
  static let options = SchemaOptions(incrementalDelivery: true)

  @Test(arguments: rows)
  func `a request is rejected with rule and places`(row: RuleRow) throws {
    #expect(try RuleRow.errors(of: row.document, options: Self.options) == row.errors)
  }

  @Test(
    arguments: [
      "{ a { x ... @defer { id } } }",
      "query($on: Boolean = true) { a { ...F @defer(if: $on, label: \"late\") } } fragment F on A { x }",
      "{ a { l @stream(initialCount: 2, label: \"rest\") } }",
      "query($n: Int!) { a { nn @stream(initialCount: $n) nn @stream(initialCount: $n) } }",
      "mutation { m ... @skip(if: true) { m } }",
      "subscription { t { x ... @defer(if: false) { id } } }",
      "subscription($on: Boolean!) { t { l @stream(if: $on) } }",
    ])
  func `a request is accepted`(document: String) throws {
    #expect(try RuleRow.errors(of: document, options: Self.options) == [])
  }

  @Test func `without the option the directives do not exist`() throws {
    let document = "{ a { ... @defer { l @stream } } }"
    #expect(try RuleRow.errors(of: document) == ["KnownDirectives 1:11", "KnownDirectives 1:22"])
    let schema = try Schema.build("type Query { a: [String] }")
    #expect(schema.directive("defer") == nil && schema.directive("stream") == nil)
    #expect(schema.type("Int") == nil)
  }

  @Test func `the option adds the directives, the type they use, and no text`() throws {
    let text = "type Query { a: [String] }"
    let schema = try Schema.build(text, options: Self.options)
    #expect(schema.directive("defer")?.locations == [.fragmentSpread, .inlineFragment])
    #expect(schema.directive("stream")?.argument("initialCount").map { schema.describe($0.type) } == "Int!")
    #expect(schema.type("Int")?.kind == .scalar)
    #expect(schema.text == (try Schema.build(text)).text)
  }

  static let rows: [RuleRow] = [
    RuleRow("mutation { ... @defer { m } }", ["DeferStreamDirectiveOnRootField 1:16"]),
    RuleRow("mutation { ...F } fragment F on Mutation { ... @defer { m } }", ["DeferStreamDirectiveOnRootField 1:48"]),
    RuleRow(
      "subscription { ... @defer { s } }",
      ["DeferStreamDirectiveOnRootField 1:20", "DeferStreamDirectiveOnValidOperations 1:20"]),
    RuleRow("subscription { t { ... @defer { x } } }", ["DeferStreamDirectiveOnValidOperations 1:24"]),
    RuleRow(
      "subscription { t { ...F } } fragment F on A { l @stream(if: true) }",
      ["DeferStreamDirectiveOnValidOperations 1:49"]),
    RuleRow(
      #"{ a { ... @defer(label: "one") { x } ... @defer(label: "one") { id } } }"#,
      ["DeferStreamDirectiveLabel 1:11 1:42"]),
    RuleRow(
      #"{ a { ... @defer(label: "one") { l @stream(label: "one") } } }"#, ["DeferStreamDirectiveLabel 1:11 1:36"]),
    RuleRow(
      "query($l: String) { a { ... @defer(label: $l) { x } } }", ["DeferStreamDirectiveLabel 1:29"]),
    RuleRow("{ a { x @stream } }", ["StreamDirectiveOnListField 1:9"]),
    RuleRow("{ a { x @defer } }", ["KnownDirectives 1:9"]),
    RuleRow("{ a { l @stream l } }", ["OverlappingFieldsCanBeMerged 1:7 1:17"]),
    RuleRow(
      "{ a { l @stream(initialCount: 1) l @stream(initialCount: 2) } }", ["OverlappingFieldsCanBeMerged 1:7 1:34"]),
    RuleRow("{ a { l @stream(initialCount: null) } }", ["ValuesOfCorrectType 1:31"]),
  ]
}
