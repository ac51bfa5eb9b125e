import MartletJSON
import MartletModels
import Testing

/// `@validate(type: matches)`: which values pass, and what a hostile value can cost.
struct ValidationTests {
  private static func accepts(_ expression: String, _ text: String) -> Bool {
    FieldValidation(rule: .matches, value: expression, errorMessage: nil).accepts(.string(text))
  }

  @Test(arguments: [
    ("^[a-z]+$", "abc", true), ("^[a-z]+$", "abc1", false), ("b", "abc", true), ("^\\d{4}-\\d{2}$", "2026-11", true),
    ("^(?:a|b)*$", "abba", true), ("^.+@.+\\..+$", "a@b.example", true), ("^[^@]+$", "a@b", false), ("", "", true),
    // What only the engine of the standard library knows.
    ("^(?=.*\\d)[a-z\\d]+$", "abc1", true), ("^(?=.*\\d)[a-z\\d]+$", "abc", false), ("^(a+)-\\1$", "aa-aa", true),
    ("^(a+)-\\1$", "aa-a", false), ("^\\p{Lu}+$", "ÄB", true), ("^[[:digit:]]+$", "12", true),
    ("^[[:digit:]]+$", ":d", false), ("^[a-z&&[^b]]+$", "ac", true), ("^[a-z&&[^b]]+$", "abc", false),
    ("(", "(", false),
  ])
  func `a text passes where the expression is found in it`(expression: String, text: String, passes: Bool) {
    #expect(Self.accepts(expression, text) == passes)
  }

  @Test(.timeLimit(.minutes(1)))
  func `a text for which a backtracking engine would take for ever is refused at once`() {
    let text = String(repeating: "a", count: 20_000) + "!"
    for expression in ["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "^([a-z]*)*$", "(x+x+)+y|^(a*)*$"] {
      #expect(!Self.accepts(expression, text), "\(expression)")
    }
  }
}
