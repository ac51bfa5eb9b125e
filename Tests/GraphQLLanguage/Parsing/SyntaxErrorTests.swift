import MartletGraphQLDocuments
import Testing

@Suite struct `Syntax errors` {
  @Test(arguments: rows)
  func `say what was found and where`(source: String, expected: String) {
    do {
      _ = try Parser.parse(source)
      Issue.record("\(source) was taken")
    } catch {
      #expect("\(error.message) \(error.location)" == expected)
      #expect(error.kind == .grammar)
    }
  }

  @Test func `count lines by any line end and columns by scalars`() {
    for (source, place) in [
      ("{\n a\r\n  b\r   ?}", SourceLocation(line: 4, column: 4, offset: 13)),
      ("{a(b:\"é😀\")?}", SourceLocation(line: 1, column: 11, offset: 14)),
      ("\u{FEFF}{a ?}", SourceLocation(line: 1, column: 5, offset: 6)),
      ("{a(b:\"\"\"é\n😀\"\"\" ?}", SourceLocation(line: 2, column: 6, offset: 19)),
    ] {
      do {
        _ = try Parser.parse(source)
        Issue.record("\(source) was taken")
      } catch {
        #expect(error.location == place)
      }
    }
  }

  @Test func `name the source that was given`() {
    do {
      _ = try Parser.parse("{", name: "board.graphql")
      Issue.record("was taken")
    } catch {
      #expect(error.description == "board.graphql:1:2: Syntax Error: Expected Name, found <EOF>.")
    }
  }

  static let rows: [(String, String)] = [
    ("\"d\" {a}", "Unexpected description, descriptions are not supported on shorthand queries. 1:1"),
    ("fragment F($a:Int) on T {a}", "Expected 'on', found '('. 1:11"),
    ("{a", "Expected Name, found <EOF>. 1:3"),
    ("{a(b:\"\\uD800\")}", "Invalid Unicode escape sequence: '\\uD800'. 1:7"),
    ("query Q( ) {a}", "Expected '$', found ')'. 1:10"),
    ("{a()}", "Expected Name, found ')'. 1:4"),
    ("fragment on on T {a}", "Unexpected Name 'on'. 1:10"),
    ("{...on}", "Expected Name, found '}'. 1:7"),
    ("{...on A}", "Expected '{', found '}'. 1:9"),
    ("{ a(b: 01) }", "Invalid number, unexpected digit after 0: '1'. 1:9"),
    ("{a(b:1.)}", "Invalid number, expected digit but got: ')'. 1:8"),
    ("{a(b:1x)}", "Invalid number, expected digit but got: 'x'. 1:7"),
    ("{a(b:.1)}", "Invalid number, expected digit before '.', did you mean '0.1'? 1:6"),
    ("{a(b:\"x\n\")}", "Unterminated string. 1:8"),
    ("{a(b:\"\"\"abc)}", "Unterminated string. 1:14"),
    ("?", "Unexpected character: '?'. 1:1"),
    ("{a(b:$)}", "Expected Name, found ')'. 1:7"),
    ("", "Unexpected <EOF>. 1:1"),
    ("directive @a on FOO", "Unexpected Name 'FOO'. 1:17"),
    ("enum A {true}", "Name 'true' is reserved and cannot be used for an enum value. 1:9"),
    ("query Q($a:Int=$b){a}", "Unexpected variable '$b' in constant value. 1:16"),
    ("extend type A", "Unexpected <EOF>. 1:14"),
    ("extend schema", "Unexpected <EOF>. 1:14"),
    ("type A {}", "Expected Name, found '}'. 1:9"),
    ("{a(b:\"\\x\")}", "Invalid character escape sequence: '\\x'. 1:7"),
    ("{a(b:\"\\u12\")}", "Invalid Unicode escape sequence: '\\u12\")'. 1:7"),
    ("{a(b:\"\\u{110000}\")}", "Invalid Unicode escape sequence: '\\u{110000}'. 1:7"),
    ("{a ..}", "Unexpected '..', did you mean '...'? 1:4"),
    ("{a(b: -)}", "Invalid number, expected digit but got: ')'. 1:8"),
    ("{a(b:0xF)}", "Invalid number, expected digit but got: 'x'. 1:7"),
    ("{a(b:1e)}", "Invalid number, expected digit but got: ')'. 1:8"),
    ("{a @}", "Expected Name, found '}'. 1:5"),
    ("foo {a}", "Unexpected Name 'foo'. 1:1"),
    ("extend {a}", "Unexpected '{'. 1:8"),
    ("\"x\" extend type A {a:Int}", "Unexpected description, only GraphQL definitions support descriptions. 1:1"),
    ("{ a: b: c }", "Expected Name, found ':'. 1:7"),
    ("{a(b:'x')}", "Unexpected single quote character ('), did you mean to use a double quote (\")? 1:6"),
    ("{a \u{7}}", "Unexpected character: U+0007. 1:4"),
    ("{é}", "Unexpected character: U+00E9. 1:2"),
    ("\"d\" foo", "Unexpected description, only GraphQL definitions support descriptions. 1:1"),
    ("{ }", "Expected Name, found '}'. 1:3"),
    ("directive @a @b on FIELD", "Expected 'on', found '@'. 1:14"),
    ("extend directive @a @b", "Unexpected Name 'directive'. 1:8"),
  ]
}
