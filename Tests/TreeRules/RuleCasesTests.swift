import MartletJSON
import MartletTreeRules
import Testing

/// Files of tests for rules.
@Suite struct RuleCasesTests {
  private static let rules = """
    {"rules": {
      "posts": {"$post": {
        ".read": true,
        ".write": "auth != null && data.child('author').val() == auth.uid",
        "title": {".validate": "newData.isString()"}
      }},
      "unused": {".read": "now > 5"}
    }}
    """

  private static let file: JSONValue = [
    "data": ["posts": ["p1": ["author": "ada"]]], "users": ["ada": ["uid": "ada"], "bob": ["uid": "bob"]],
    "cases": [
      ["name": "anyone reads", "read": "posts/p1", "allowed": true],
      ["name": "authors edit", "as": "ada", "write": "posts/p1/title", "value": "Hi", "allowed": true],
      ["as": "bob", "write": "posts/p1", "allowed": false, "rule": "/posts/$post/.write"],
      ["name": "titles are texts", "as": "ada", "merge": "posts/p1", "value": ["title": 1], "allowed": true],
      ["name": "wrong rule", "as": "bob", "write": "posts/p1", "allowed": false, "rule": "/other"],
    ],
  ]

  @Test func `cases that do not hold name the rule, and coverage counts every rule`() throws {
    let rules = try RuleSet(parsing: Self.rules)
    let coverage = RuleTrace(rules)
    let results = try RuleCases(Self.file).run(rules, coverage: coverage)
    #expect(results.map(\.hasPassed) == [true, true, true, false, false])
    #expect(results[2].name == "case 3")
    #expect(results[3].message == "denied: /posts/p1/title: /posts/$post/title/.validate is false")
    #expect(results[4].message.hasPrefix("denied by /posts/$post/.write: "))
    #expect(
      coverage.coverage.map(\.rule) == [
        "/posts/$post/.read", "/posts/$post/.write", "/posts/$post/title/.validate", "/unused/.read",
      ])
    #expect(coverage.coverage.map(\.wasTrue) == [1, 2, 1, 0])
    #expect(coverage.coverage.map(\.wasFalse) == [0, 2, 1, 0])
    #expect(coverage.coverage.map(\.isComplete) == [true, true, true, false])
  }

  @Test func `a file that cannot be read names the case and the member`() throws {
    let rules = try RuleSet(parsing: Self.rules)
    func error(_ file: JSONValue) -> String {
      do {
        _ = try RuleCases(file).run(rules, coverage: RuleTrace(rules))
        return ""
      } catch { return error.description }
    }
    #expect(error(["data": 1]) == "the file has no list named cases")
    #expect(error(["cases": [], "tests": []]) == "the member tests is not known: there are data, now, users and cases")
    #expect(error(["cases": [["allowed": true]]]) == "case 1: a case names one path as read, write or merge")
    #expect(
      error(["cases": [["read": "a", "as": "eve", "allowed": true]]]) == "case 1: the user eve is not among users")
    #expect(error(["cases": [["read": "a", "allowed": 1]]]) == "case 1: allowed is not a boolean")
    #expect(error(["cases": [["read": "a", "allowed": true, "vlaue": 1]]]) == "case 1: the member vlaue is not known")
    #expect(error(["cases": [["write": "a.b", "value": 1, "allowed": true]]]).hasPrefix("case 1: /: a key contains"))
  }
}
