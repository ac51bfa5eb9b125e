import MartletGenerator
import Testing

/// Mistakes are typed, all reported at once, and say where they are.
@Suite struct ComplaintTests {
  private static let schema = """
    type Query { a: Int! b: Kind t: T n(kind: Kind): Int }
    type T { id: ID! t: T }
    enum Kind { ONE TWO }
    """

  @Test func `errors name file, line and column, in order of files and places`() throws {
    #expect(
      try Made.complaints(Self.schema, "query A {\n  c\n}\nquery B { t }", "query C($x: Int) { a ...F }") == [
        "1.graphql:2:3: Cannot query field 'c' on type 'Query'. Did you mean 'a', 'b', 'n', or 't'?",
        "1.graphql:4:11: Field 't' of type 'T' must have a selection of subfields. Did you mean 't { ... }'?",
        "2.graphql:1:9: Variable '$x' is never used in operation 'C'.",
        "2.graphql:1:25: Unknown fragment 'F'.",
      ])
  }

  @Test func `a syntax error in each file is reported for each`() throws {
    let complaints = try Made.complaints(Self.schema, "query A {", "query B { a }", "query {\n a: }")
    #expect(complaints.count == 2)
    #expect(complaints.first?.hasPrefix("1.graphql:1:10: Syntax Error: ") == true)
    #expect(complaints.last?.hasPrefix("3.graphql:2:5: Syntax Error: ") == true)
  }

  @Test func `an operation without a name cannot become a type`() throws {
    #expect(
      try Made.complaints(Self.schema, "query A { a }", "{ a }")
        == ["2.graphql:1:1: The operation has no name, and its Swift type needs one."])
  }

  @Test func `one name in two files is found`() throws {
    let complaints = try Made.complaints(Self.schema, "query A { a }", "query A { b }")
    #expect(complaints == ["1.graphql:1:7: There can be only one operation named 'A'. See also 2.graphql:1:7."])
  }

  @Test func `an unused fragment is not a mistake`() throws {
    #expect(try Made.complaints(Self.schema, "fragment F on T { id }") == [])
  }

  @Test func `fragments that no operation uses are warnings with their places, however many they are`() throws {
    let many = (1...250).map { "fragment F\($0) on T { id }" }.joined(separator: "\n")
    let warnings = try Made.output(Self.schema, many, "query A { a }").warnings
    #expect(warnings.count == 250)
    #expect(warnings.first?.description == "1.graphql:1:1: Fragment 'F1' is never used.")
    #expect(warnings.last?.described(as: "warning: ") == "1.graphql:250:1: warning: Fragment 'F250' is never used.")
    // A mistake among them is found all the same.
    #expect(try Made.complaints(Self.schema, many + "\nquery B { none }").count == 1)
  }

  // MARK: Names

  @Test(arguments: [
    (
      "query A { x: a X: a t_t: t { id } tT: t { id } }",
      "1.graphql:1:35: 't_t' and 'tT' would both be the type 'TT' of AQuery.Data. Give one of them an alias."
    ),
    (
      "query A { a a_: a self: a self_: a }",
      "1.graphql:1:27: 'self' and 'self_' would both be the property 'self_' of AQuery.Data. Give one of them an alias."
    ),
    (
      "query A { t { ...f id } } fragment f on T { f: id }",
      "1.graphql:1:15: 'f' and '...f' would both be the property 'f' of AQuery.Data.T. Give one of them an alias."
    ),
    (
      "query a { a } query A { a }",
      "1.graphql:1:7: The query a and The query A would both be the Swift type 'AQuery'. Rename the operation."
    ),
    (
      "query Kind { b } fragment Kind on T { id }",
      "1.graphql:1:27: The fragment Kind and The enum Kind would both be the Swift type 'Kind'. Rename the fragment."
    ),
    (
      "query A { t { ...String } } fragment String on T { id }",
      "1.graphql:1:38: The fragment String would be the Swift type 'String', which generated code needs. "
        + "Rename the fragment."
    ),
  ])
  func `colliding names are typed errors`(operation: String, expected: String) throws {
    let complaints = try Made.complaints(Self.schema, operation)
    #expect(complaints == [expected])
  }

  @Test func `a schema's names that Swift cannot have are renamed by configuration`() throws {
    let schema = "type Query { p: Optional } enum Optional { A }"
    let renamed = GeneratorConfiguration(typeNames: ["Optional": "Option"])
    #expect(
      try Made.complaints(schema, "query A { p }") == [
        "The enum Optional would be the Swift type 'Optional', which generated code needs. "
          + "Give it another name with \"typeNames\" in the configuration."
      ])
    #expect(try Made.complaints(schema, "query A { p }", configuration: renamed) == [])
    let mapped = GeneratorConfiguration(scalars: ["Moment": .init("Date", module: "Foundation")])
    #expect(
      try Made.complaints(
        "type Query { a: Date b: Moment } enum Date { X } scalar Moment", "query A { a b }", configuration: mapped) == [
          "The enum Date would be the Swift type 'Date', which a scalar is mapped to. "
            + "Give it another name with \"typeNames\" in the configuration."
        ])
  }

  @Test func `values of an enum that differ by case or underscores only keep the schema's spelling`() throws {
    let text = try Made.text(
      "SchemaTypes", "type Query { p: P } enum P { FOO foo a_b aB self self_ X }", "query A { p }")
    #expect(
      text.contains("allCases: [Self] = [.FOO, .foo, .a_b, .aB, .self_, .self__, .x]"), "\(text)")
  }

  @Test func `a word of a document imports nothing`() throws {
    let mapped = GeneratorConfiguration(access: .public, scalars: ["Moment": .init("Date", module: "Foundation")])
    let text = try Made.text(
      "DateQuery", "type Query { b: Int a: Moment } scalar Moment", "query Date { b }", configuration: mapped)
    #expect(!text.contains("Foundation"))
  }

  @Test func `types that would hide others get another name`() throws {
    let text = try Made.text(
      "AQuery", "type Query { kind: T b: Kind string: T } type T { id: ID! } enum Kind { ONE }",
      "query A { kind { id } b string { id } }")
    #expect(text.contains("var kind: KindField?"))
    #expect(text.contains("var b: Kind?"))
    #expect(text.contains("struct StringField: Codable"))
  }

  @Test func `type conditions that multiply stop at a limit`() throws {
    let complaints = try Made.complaints(
      Self.schema, "query A { t { t { t { id } } } }", limits: GeneratorLimits(structs: 3))
    #expect(complaints == ["The operations need more than 3 structs."])
  }

  // MARK: Conditions

  @Test func `what some objects select besides makes optional what a condition leaves out`() throws {
    let schema = """
      type Query { pet: Pet } interface Pet { home: Home } type Cat implements Pet { home: Home }
      type Dog implements Pet { home: Home } type Home { street: String! city: String! yard: Home }
      """
    let plain = try Made.text("QQuery", schema, "query Q($f: Boolean!) { pet { home @include(if: $f) { street } } }")
    #expect(plain.contains("        var street: String\n"))
    // A cat's home is there without the street.
    let mixed = try Made.text(
      "QQuery", schema,
      "query Q($f: Boolean!) { pet { home @include(if: $f) { street yard { city } } ... on Cat { home { city yard { street } } } } }"
    )
    #expect(mixed.contains("      struct Home: Codable, Hashable, Sendable {\n        var street: String?\n"))
    #expect(mixed.contains("          var city: String?\n"))
  }

  @Test func `what is written of an object that fits several cases ends with the one that has most`() throws {
    let schema = """
      type Query { pet: Pet } interface Pet { home: Home } interface Furry { home: Home }
      type Cat implements Pet & Furry { home: Home } type Dog implements Pet & Furry { home: Home }
      type Fish implements Pet { home: Home } type Home { street: String! city: String! }
      """
    let text = try Made.text(
      "QQuery", schema, "query Q { pet { ... on Cat { home { street } } ... on Furry { home { city } } } }")
    #expect(text.contains("    try asFurry?.encode(to: encoder)\n    try asCat?.encode(to: encoder)\n"))
  }

  // MARK: Deprecation

  @Test func `deprecated fields are marked where nothing generated mentions them`() throws {
    let schema = "type Query { t: T } type T { old: Int @deprecated(reason: \"Say \\\"new\\\".\") new: Int }"
    let plain = try Made.text("AQuery", schema, "query A { t { old } }")
    #expect(
      plain.contains(
        "      @available(*, deprecated, message: \"Say \\\"new\\\".\")\n      var old: Int?\n"))
    let converted = try Made.text("AQuery", schema, "query A { t { ...F new } } fragment F on T { old }")
    #expect(converted.contains("      /// Deprecated: Say \"new\".\n      var old: Int?\n"))
  }
}
