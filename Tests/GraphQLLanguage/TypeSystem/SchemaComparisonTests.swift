import MartletGraphQLLanguage
import Testing

@Suite struct `Comparing schemas` {
  struct Row: Sendable {
    var old: String
    var new: String
    var changes: [String]

    init(_ old: String, _ new: String, _ changes: [String]) {
      self.old = old
      self.new = new
      self.changes = changes
    }
  }

  @Test(arguments: rows)
  func `judges each change`(row: Row) throws {
    let old = try Schema.build("type Query { q: Int } " + row.old)
    let new = try Schema.build("type Query { q: Int } " + row.new)
    #expect(SchemaComparison.changes(from: old, to: new).map(\.description) == row.changes)
    #expect(SchemaComparison.changes(from: old, to: old).isEmpty)
  }

  static let rows: [Row] = [
    Row("", "type T { a: Int }", ["safe: The type T was added"]),
    Row("type T { a: Int }", "", ["breaking: The type T was removed"]),
    Row("type T { a: Int }", "input T { a: Int }", ["breaking: The type T changed from object to input object"]),
    Row(
      "type T { a: Int b: Int }", "type T { a: Int! c: Int }",
      [
        "breaking: The field T.b was removed", "safe: The type of T.a changed from Int to Int!",
        "safe: The field T.c was added",
      ]),
    Row(
      "type T { a: Int! b: [Int] }", "type T { a: Int b: Int }",
      [
        "breaking: The type of T.a changed from Int! to Int", "breaking: The type of T.b changed from [Int] to Int",
      ]),
    Row(
      "interface N { a: Int } type A implements N { a: Int n: N }",
      "interface N { a: Int } type A implements N { a: Int n: A }", ["safe: The type of A.n changed from N to A"]),
    Row(
      "type T { a(x: Int! = 1, y: Int): Int }", "type T { a(x: Int!, y: Int!, z: Int!, w: Int): Int }",
      [
        "breaking: The default of T.a(x:) changed from 1 to nothing",
        "breaking: The type of T.a(y:) changed from Int to Int!",
        "breaking: The required argument T.a(z:) was added", "dangerous: The optional argument T.a(w:) was added",
      ]),
    Row(
      "type T { a(x: Int!, y: Int = 1): Int }", "type T { a(x: [Int], y: Int = 2): Int }",
      [
        "dangerous: The default of T.a(y:) changed from 1 to 2",
        "safe: The type of T.a(x:) changed from Int! to [Int]",
      ]),
    Row(
      "enum E { A B }", "enum E { A C }",
      [
        "breaking: The value B was removed from E", "dangerous: The value C was added to E",
      ]),
    Row(
      "union U = Query type T { a: Int }", "union U = T type T { a: Int @deprecated }",
      [
        "breaking: The member Query was removed from U", "dangerous: The member T was added to U",
        "safe: T.a is deprecated now",
      ]),
    Row(
      "input I { a: Int b: Int }", "input I @oneOf { a: Int }",
      [
        "breaking: The input object I now takes exactly one field", "breaking: The input field I.b was removed",
      ]),
    Row(
      "directive @d(a: Int) repeatable on FIELD | QUERY", "directive @d on FIELD | MUTATION",
      [
        "breaking: @d is repeatable no more", "breaking: @d may no longer be used on query",
        "breaking: The argument @d(a:) was removed", "safe: @d may be used on mutation now",
      ]),
    Row(
      "scalar S @specifiedBy(url: \"a\")", "\"new\" scalar S @specifiedBy(url: \"b\")",
      [
        "dangerous: The specification of the scalar S changed", "safe: The description of S changed",
      ]),
    Row(
      "type Mutation { a: Int }", "type Mutation { a: Int } type Subscription { a: Int }",
      [
        "safe: The type Subscription was added", "safe: The root type Subscription of subscription was added",
      ]),
  ]
}
