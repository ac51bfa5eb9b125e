import MartletGraphQLDocuments
import Testing

@Suite struct `The parser` {
  @Test(arguments: [
    "{ a }",
    "query Q($a: Int = 1 @d, $b: [String!]!) @x { b: c(d: [1, -2.5e3, \"x\", $a, ENUM, null, true, {e: {}}]) { e } }",
    "\"d\" mutation M(\"v\" $a: Int, $b: In = {a: [1]}) { ...F @skip(if: $a) ... on T @y { a } ... { b } }",
    "\"\"\"block\"\"\" fragment F on T @d { a }",
    "\"s\" schema @a { query: Q mutation: M }  extend schema @b  extend schema { subscription: S }",
    "\"t\" type T implements A & B @d { \"f\" f(\"a\" a: Int = 1 @x, b: [Int!]): [T!]! @deprecated(reason: \"no\") }",
    "type Empty  interface I implements A  union U = A | B  union V  enum E { \"v\" A B @c }  scalar S @s",
    "input I @oneOf { \"f\" a: Int = 1 @d b: [I] }  directive @d(a: Int) repeatable on FIELD | QUERY",
    "extend type T { a: Int } extend scalar S @a extend union U = C extend enum E { C } extend input I { c: Int }",
    "{ a(b: \"\"\"\n  two\n    lines \\\"\"\" \n\"\"\", c: \"\\u{1F600} \\uD83D\\uDE00 \\n \\u0007\") }",
  ])
  func `reads what the printer wrote`(source: String) throws {
    let document = try Parser.parse(source)
    let printed = Printer.text(of: document)
    #expect(try Parser.parse(printed) == document)
    #expect(try Printer.text(of: Parser.parse(printed)) == printed)
  }
}
