import MartletJSON
import MartletTesting
import Testing

/// Rules files: structure, cascading, validation, merges, denials.
@Suite struct RuleSetTests {
  static let refused: [(String, [String])] = [
    ("null", ["line 1, column 1: a rules file is an object with the member \"rules\", not null"]),
    ("{\"rules\": {}} x", ["line 1, column 15: unexpected \"x\""]),
    (
      "{\"other\": {}}",
      [
        "line 1, column 3: the member \"other\" is not allowed beside \"rules\"",
        "line 1, column 1: the member \"rules\" is missing",
      ]
    ),
    ("{\"rules\": {}, \"other\": 1}", ["line 1, column 16: the member \"other\" is not allowed beside \"rules\""]),
    ("{\"rules\": {\"a\": null}}", ["line 1, column 17: /a: the rules of a node are an object, not null"]),
    ("{\"rules\": {\".read\": 1}}", ["line 1, column 21: /.read: .read is a boolean or a string, not a number"]),
    (
      "{\"rules\": {\".woops\": true}}",
      [
        "line 1, column 13: /: .woops does not exist: there are .read, .write, .validate and .indexOn"
      ]
    ),
    (
      "{\"rules\": {\".indexOn\": true}}",
      [
        "line 1, column 24: /: .indexOn is a string or a list of strings, not a boolean"
      ]
    ),
    (
      "{\"rules\": {\".indexOn\": [\"a\", 1]}}",
      ["line 1, column 30: /: an element of .indexOn is a string, not a number"]
    ),
    ("{\"rules\": {\"$a\": {}, \"$b\": {}}}", ["line 1, column 23: /: a node has at most one $name; $b is the second"]),
    ("{\"rules\": {\"$a\": {\"x\": {\"$a\": {}}}}}", ["line 1, column 26: /$a/x: $a names a key of this path already"]),
    ("{\"rules\": {\"a\": {}, \"a\": {}}}", ["line 1, column 22: \"a\" stands here a second time"]),
    (
      "{\"rules\": {\"a.b\": {}}}",
      [
        "line 1, column 13: /: \"a.b\" is not a key: 1 to 768 bytes, without control characters and . $ # [ ] /"
      ]
    ),
    (
      "{\"rules\": {\n  // who may read\n  \".read\": \"auth.uid == $u\",\n  \".write\": \"1 +\\n true\"\n}}",
      [
        "line 3, column 25: /.read: the variable $u does not exist; no key of the path has this name",
        "line 4, column 20: /.write: the right operand of + is not a number or a string but a boolean",
      ]
    ),
    ("{\"rules\": {\".read\": \"true", ["line 1, column 21: a string has no end"]),
    ("{\"rules\": {/* ", ["line 1, column 12: a comment has no end"]),
  ]

  @Test(arguments: refused.indices)
  func `a refused rules file names every problem and where it is`(index: Int) {
    let (text, expected) = Self.refused[index]
    #expect(TreeRulesDriver.problems(in: text).map(\.description) == expected)
  }

  @Test func `comments, line breaks in strings and both quotes are allowed`() throws {
    let text = """
      // The rules.
      {"rules": { /* open */ ".read": "auth != null &&
          auth.uid == 'a\\u0064a'", ".indexOn": ["name", ".value"], "x": {"$y": {".write": true}} } }
      """
    #expect(TreeRulesDriver.problems(in: text) == [])
    let rules = try TreeRulesDriver(rules: text)
    #expect(try rules.read("anything", data: .null, auth: ["uid": "ada"]).isAllowed)
    #expect(try rules.read("anything", data: .null, auth: ["uid": "bob"]).isAllowed == false)
  }

  @Test func `the limits of a rules file are typed problems`() {
    let deep = String(repeating: "{\"a\":", count: 40) + "{}" + String(repeating: "}", count: 40)
    #expect(TreeRulesDriver.problems(in: "{\"rules\":\(deep)}").map(\.code) == ["limit"])
    let large = "{\"rules\": {}}" + String(repeating: " ", count: 1_100_000)
    #expect(
      TreeRulesDriver.problems(in: large).map(\.message) == ["the file is larger than the limit fileBytes (1048576)"])
  }

  private static let posts = """
    {"rules": {
      ".read": false,
      "posts": {
        ".read": "auth != null",
        "$post": {
          ".write": "auth.uid === 'ada' && (!data.exists() || data.child('author').val() === auth.uid)",
          ".validate": "newData.hasChildren(['author', 'title'])",
          "author": {".validate": "newData.val() === auth.uid"},
          "title": {".validate": "newData.isString() && newData.val().length <= 5"},
          "date": {".validate": "newData.val() <= now"},
          "secret": {".read": false},
          "$other": {".validate": false}
        }
      },
      "pairs": {"$one": {"$two": {".read": "$one == $two", ".write": true, ".validate": "newData.val() !== $one"}}}
    }}
    """

  private func decide(
    _ path: String, _ value: JSONValue, uid: String? = "ada", data: JSONValue = .null
  ) throws -> TreeRulesVerdict {
    try TreeRulesDriver(rules: Self.posts).write(
      path, value, data: data, auth: uid.map { ["uid": .string($0)] } ?? .null, now: 1000)
  }

  @Test func `a read that a node grants is not taken back below it`() throws {
    let rules = try TreeRulesDriver(rules: Self.posts)
    #expect(try rules.read("posts/p1/secret", data: .null, auth: ["uid": "bob"]).isAllowed)
    #expect(try rules.read("posts", data: .null).isAllowed == false)
    #expect(try rules.read("", data: .null, auth: ["uid": "bob"]).rule == "/.read")
    #expect(try rules.read("unknown/path", data: .null, auth: ["uid": "bob"]).isAllowed == false)
    #expect(try rules.read("pairs/a/a/deep", data: .null).isAllowed)
    #expect(try rules.read("pairs/a/b", data: .null).isAllowed == false)
  }

  @Test func `a write needs a grant above it and every validation`() throws {
    let post: JSONValue = ["author": "ada", "title": "Hi", "date": [".sv": "timestamp"]]
    #expect(try decide("posts/p1", post).isAllowed)
    #expect(try decide("posts/p1", post, uid: "bob").rule == "/posts/$post/.write")
    #expect(try decide("posts", ["p1": post]).reason == "/posts: no .write rule stands on the way")
    #expect(try decide("posts/p1", ["author": "ada"]).rule == "/posts/$post/.validate")
    #expect(try decide("posts/p1", ["author": "ada", "title": "too long"]).rule == "/posts/$post/title/.validate")
    #expect(try decide("posts/p1", ["author": "ada", "title": "Hi", "x": 1]).rule == "/posts/$post/$other/.validate")
    // The post's own validation sees the whole post when a part of it is written.
    #expect(try decide("posts/p1/title", "Yo", data: ["posts": ["p1": ["author": "ada"]]]).isAllowed)
    #expect(try decide("posts/p1/title", "Yo").rule == "/posts/$post/.validate")
  }

  @Test func `a deletion needs a grant and no validation`() throws {
    let data: JSONValue = ["posts": ["p1": ["author": "ada", "title": "T"]]]
    #expect(try decide("posts/p1", .null, data: data).isAllowed)
    #expect(try decide("posts/p1", .null, uid: "bob", data: data).isAllowed == false)
    // What stays is still validated.
    #expect(try decide("posts/p1/title", .null, data: data).rule == "/posts/$post/.validate")
  }

  @Test func `a merge is all or nothing, and each path needs its own grant`() throws {
    let rules = try TreeRulesDriver(rules: Self.posts)
    let post: JSONValue = ["author": "ada", "title": "T"]
    let ada: JSONValue = ["uid": "ada"]
    #expect(try rules.merge("", ["posts/p1": post, "posts/p2": post], data: .null, auth: ada).isAllowed)
    #expect(try rules.merge("", ["posts/p1": post, "other": 1], data: .null, auth: ada).isAllowed == false)
    // Written together, the two parts make a post that is valid.
    let parts: JSONObject = ["posts/p1/author": "ada", "posts/p1/title": "T"]
    #expect(try rules.merge("", parts, data: .null, auth: ada).isAllowed)
    #expect(try rules.merge("posts/p1", ["title": "T"], data: .null, auth: ada).isAllowed == false)
    #expect(try rules.merge("", [:], data: .null).isAllowed)
  }

  @Test func `a denial names path, rule, position and values`() throws {
    let verdict = try decide("posts/p1", ["author": "bob", "title": "T"])
    #expect(verdict.reason == "/posts/p1/author: /posts/$post/author/.validate is false")
    #expect(verdict.values.contains("auth.uid = \"ada\""))
    #expect(verdict.values.contains("newData.val() = \"bob\""))
    let failed = try TreeRulesDriver(rules: #"{"rules": {".write": "auth.n > 1"}}"#).write("a", 1, data: .null)
    #expect(
      failed.reason
        == "/a: no .write rule is true: /.write failed (line 1, column 23): the operands of > are of different types: null and a number"
    )
  }

  @Test func `a failing validation refuses, and a failing grant grants nothing`() throws {
    let rules = try TreeRulesDriver(
      rules: #"{"rules": {"a": {".write": true, ".validate": "newData.val().contains('x')"}}}"#)
    #expect(try rules.write("a", "xyz", data: .null).isAllowed)
    #expect(try rules.write("a", 2, data: .null).isAllowed == false)
  }

  @Test func `now is the timestamp that the write stores`() throws {
    let rules = try TreeRulesDriver(rules: #"{"rules": {".write": true, "t": {".validate": "newData.val() == now"}}}"#)
    #expect(try rules.write("t", [".sv": "timestamp"], data: .null, now: 77).isAllowed)
    #expect(try rules.write("t", 76, data: .null, now: 77).isAllowed == false)
  }

  @Test func `a literal child's rules stand in for those of the wildcard beside it`() throws {
    let rules = try TreeRulesDriver(rules: #"{"rules": {"me": {}, "$x": {".read": "$x != 'me'"}}}"#)
    #expect(try rules.read("you", data: .null).isAllowed)
    #expect(try rules.read("me", data: .null).isAllowed == false)
  }
}
