import MartletGraphQLLanguage
import Testing

/// Requests next to the limits of the rules that are still valid.
@Suite struct `Validation accepts` {
  @Test(arguments: [
    #"{... {a{x}} ... on Query{b{y}}}"#,
    #"{a{inp(c:{a:1,b:2}){x} inp(c:{b:2,a:1}){x}}}"#,
    ##"{a{inp(s:"x"){x} inp(s:"""x"""){x}}}"##,
    #"query Q($b:Boolean=true){a{x @skip(if:$b)}}"#,
    #"query A { a { x } } query B { b { y } }"#,
    #"subscription S { t(a: 1) { x } }"#,
    #"subscription { ...F } fragment F on Subscription { s }"#,
    #"query Q($a: In = {a: 1}, $b: [Int!]! = [1], $c: E = X, $d: Cust = {any: [1, "x"]}) { a { inp(i: $a, l: $b, e: $c, c: $d) { x } } }"#,
    #"{ n { id ... on A { x } ... on Named { name } } u { __typename ... on Node { id } } }"#,
    #"{ a { ...F ...F other { ...G } } } fragment F on A { x other { ...G } } fragment G on Node { id }"#,
    #"{ u { ... on A { k: x } ... on B { k: y } } }"#,
    #"query Q($b: Boolean!) @q(a: 1) { a @f(a: 1) @rep @rep { x @skip(if: $b) @include(if: true) } }"#,
    #"query Q($v: Int @v) { a { name(a: $v) } }"#,
    #"query Q($i: Int!) { a { req(a: $i) inp(o: {a: $i}) { x } k: inp(o: {b: "x"}) { x } } }"#,
    #"query Q($i: Int) { a { name(b: $i) req(a: 1, b: $i) inp(l: [$i], ll: [[1], null]) { x } } }"#,
    #"{ a { inp(id: 1, f: 1, l: 1, ll: 1, i: {a: 1, c: {a: 2}}) { x } } }"#,
    #"{ __schema { types { name fields { name args { type { name ofType { name } } } } } } __type(name: "A") { name } }"#,
    #"mutation { m }"#,
  ])
  func `requests that keep the rules`(document: String) throws {
    #expect(try RuleRow.errors(of: document) == [])
  }

  @Test func `operations of kinds the schema has, and rejects others`() throws {
    let schema = try Schema.build("type Query { a: Int }")
    let errors = Validator.validate(try Parser.parse("query A { a } mutation B { b }"), against: schema)
    #expect(errors.map(\.rule) == ["KnownOperationTypes"])
    #expect(errors.first?.locations == [SourceLocation(line: 1, column: 15, offset: 14)])
  }
}
