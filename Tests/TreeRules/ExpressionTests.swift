import MartletJSON
import MartletTesting
import Testing

/// Single expressions: what parses, what types allow, and what they evaluate to.
@Suite struct ExpressionTests {
  static let ada: JSONValue = [
    "uid": "ada", "level": 3, "ratio": 0.5, "admin": true, "name": "Ada L.", "teams": ["core", "web"],
    "token": ["email_verified": true, "org": ["id": "x1"]],
  ]

  private func run(
    _ expression: String, as kind: String = "read", auth: JSONValue = .null, data: JSONValue = .null,
    newData: JSONValue? = nil, at path: String = "", query: JSONValue? = nil,
    wildcards: KeyValuePairs<String, String> = [:]
  ) throws -> TreeExpressionResult {
    try TreeRulesDriver.evaluate(
      expression, as: kind, at: path, wildcards: wildcards, data: data, newData: newData, auth: auth, now: 1000,
      query: query)
  }

  static let values: [(String, Bool)] = [
    ("true", true), ("!true", false), ("1 < 2", true), ("2 <= 2 && 3 > 2 || false", true), ("1 + 2 * 3 == 7", true),
    ("(1 + 2) * 3 == 9", true), ("7 % 4 == 3", true), ("-7 % 4 == -3", true), ("1 / 4 == 0.25", true),
    ("4 / 2 == 2", true), ("1 / 0 == 1 / 0", false), ("1 / 0 > 1", false), ("'' + 1 / 0 == 'NaN'", true),
    ("'a' + 1 == 'a1'", true), ("1.50 + 'x' == '1.5x'", true), ("'' + 1e21 == '1e+21'", true),
    ("'' + 0.000001 == '0.000001'", true), ("'' + 1e-7 == '1e-7'", true), ("'' + 123456789.25 == '123456789.25'", true),
    ("9007199254740993 == 9007199254740992", false), ("9223372036854775807 + 1 > 9223372036854775806", true),
    ("1 == '1'", false), ("1 != '1'", true), ("null == null", true), ("null === null", true), ("null >= null", true),
    ("'abc' < 'abd'", true), ("'\\uFF61' > 'z'", true), ("\"it's\" == 'it\\'s'", true),
    ("'Straße'.length == 6", true), ("'😀'.length == 2", true), ("'abcabc'.replace('bc', '-') == 'a-a-'", true),
    ("'aaa'.replace('aa', 'b') == 'ba'", true), ("'abc'.replace('', 'x') == 'abc'", true),
    ("'ÄB'.toLowerCase() == 'äb'", true), ("'ab'.toUpperCase() == 'AB'", true), ("'abc'.contains('')", true),
    ("'aab'.contains('ab')", true), ("'abcab'.endsWith('ab')", true), ("'ab'.beginsWith('abc')", false),
    ("'e\\u0301' == '\\u00e9'", false), ("true ? false : true", false), ("(1 > 2 ? 'a' : 'b') == 'b'", true),
    ("auth != null", true), ("auth.uid == 'ada'", true), ("auth['uid'] === 'ada'", true), ("auth.uid !== 'bob'", true),
    ("auth.missing == null", true), ("auth.missing.deeper == null", true), ("auth.level + 1 == 4", true),
    ("auth.ratio * 2 == 1", true), ("auth.admin == true", true), ("auth.name.length == 6", true),
    ("auth.name.contains('Ada')", true), ("auth.name['contains']('Ada')", true), ("auth.teams[1] == 'web'", true),
    ("auth.token.org['id'] == 'x1'", true), ("auth.token.email_verified === true", true), ("now == 1000", true),
    ("root.exists() == false", true), ("root['exists']() == false", true), ("root.child('a/b').val() == null", true),
    ("root.child('b@example.com').exists()", false), ("root.child('a.b').val() != true", true),
    ("false && auth.missing > 1", false), ("true || auth.missing > 1", true),
  ]

  @Test(arguments: values.map(\.0))
  func `an expression has the value that the language gives it`(expression: String) throws {
    let expected = try #require(Self.values.first { $0.0 == expression }).1
    #expect(try run(expression, auth: Self.ada) == .value(expected))
  }

  static let failures = [
    "auth.level > 'a'", "auth.missing > 1", "'a' <= auth.missing", "auth.admin < true ? true : false",
    "auth.missing.contains('x')", "auth.level.contains('x')", "auth.contains('x')", "'a'.contains(auth.level)",
    "auth.name - 1 == 0", "1 + auth.admin == 2", "auth.missing + 'x' == 'x'", "-auth.name == 1",
    "root.child(auth.missing).exists()", "root.child('a/' + auth.missing).exists()", "root.hasChild(auth.level)",
    "root.hasChildren([auth.missing])", "root.parent().exists()", "!(auth.missing > 1)",
    "auth.missing > 1 ? true : true", "auth.teams.length > 1", "auth.token > 1",
  ]

  @Test(arguments: failures)
  func `an expression without a value is a failure, not false`(expression: String) throws {
    let result = try run(expression, auth: Self.ada)
    // A comparison with a literal boolean is refused before evaluation.
    if expression.contains("< true") {
      guard case .invalid = result else { return #expect(Bool(false), "\(result)") }
      return
    }
    guard case .failure = result else { return #expect(Bool(false), "\(expression): \(result)") }
  }

  static let invalid: [(String, String)] = [
    ("", "line 1, column 1: the expression ends too early"),
    ("7", "line 1, column 1: the rule is not a boolean but a number"),
    ("auth.admin", "line 1, column 1: the rule is not a boolean but a value whose type is known at evaluation"),
    (
      "auth == null ? 7 : true",
      "line 1, column 1: the rule is not a boolean but a value whose type is known at evaluation"
    ),
    (
      "auth && true",
      "line 1, column 1: the left operand of && is not a boolean but a value whose type is known at evaluation"
    ),
    ("true || 1", "line 1, column 9: the right operand of || is not a boolean but a number"),
    ("!auth", "line 1, column 2: the operand of ! is not a boolean but a value whose type is known at evaluation"),
    ("1 < 'a'", "line 1, column 1: the operands of < are of different types: a number and a string"),
    ("root.val() > true", "line 1, column 14: the right operand of > is not null, a number or a string but a boolean"),
    (
      "root != null",
      "line 1, column 1: the left operand of != is not null, a boolean, a number or a string but a snapshot"
    ),
    (
      "root.exists == true",
      "line 1, column 1: the left operand of == is not null, a boolean, a number or a string but a method"
    ),
    ("skies == 'blue'", "line 1, column 1: the variable skies does not exist"),
    ("$x == 'a'", "line 1, column 1: the variable $x does not exist; no key of the path has this name"),
    ("newData.exists()", "line 1, column 1: newData does not exist in .read rules"),
    ("root.size() == 1", "line 1, column 1: a snapshot has no method size"),
    ("root.contains('a')", "line 1, column 1: a snapshot has no method contains"),
    ("root.val().notFound == false", "line 1, column 1: a string has no member notFound"),
    ("auth.foo.notFound() == false", "line 1, column 1: a string has no method notFound"),
    ("auth.uid['nope']('x')", "line 1, column 1: a string has no method nope"),
    ("root['exi' + 'sts']()", "line 1, column 1: only values of auth have computed members"),
    ("query.foo == 1", "line 1, column 1: query has no member foo"),
    ("'a'.contains(7)", "line 1, column 14: the argument of contains is not a string but a number"),
    ("'a'.contains()", "line 1, column 1: contains takes one argument, not 0"),
    ("root.hasChildren('a')", "line 1, column 18: the argument of hasChildren is not a list of strings but a string"),
    ("root.hasChildren([])", "line 1, column 18: the list of hasChildren is empty"),
    ("root.hasChildren(['a', 7])", "line 1, column 24: an element of a list is not a string but a number"),
    ("'a'.matches('/a/')", "line 1, column 13: the argument of matches is not a regular expression but a string"),
    ("'a'.matches(/a/ig)", "line 1, column 13: the flags ig are not supported: only i is"),
    (
      "'a'.matches(/(a)\\1/)",
      "line 1, column 17: back references are not supported: they cannot be matched in linear time"
    ),
    (
      "'a'.matches(/a(?=b)/)",
      "line 1, column 15: only groups ( ) and (?: ) are supported: others cannot be matched in linear time"
    ),
    ("'a'.matches(/[z-a]/)", "line 1, column 15: the range ends before it begins"),
    ("var x = 8", "line 1, column 1: the variable var does not exist"),
    ("root = 5", "line 1, column 6: unexpected \"=\""),
    ("true; false", "line 1, column 5: unexpected \";\""),
    ("2 ** 2 == 4", "line 1, column 4: unexpected \"*\""),
    ("true &&\n  'x", "line 2, column 3: a string has no end"),
    ("(true", "line 1, column 6: the expression ends too early"),
    ("1 == 01", "line 1, column 6: a number begins with 0"),
    ("1(2)", "line 1, column 1: what is called is not a method"),
  ]

  @Test(arguments: invalid.map(\.0))
  func `a refused expression names what is wrong and where`(expression: String) throws {
    let expected = try #require(Self.invalid.first { $0.0 == expression }).1
    guard case .invalid(let problem) = try run(expression) else { return #expect(Bool(false), "accepted") }
    #expect(problem.description == expected)
  }

  @Test func `a failure names the position of the part without a value`() throws {
    let result = try run("true &&\n auth.level.contains('x')", auth: Self.ada)
    #expect(result == .failure("line 2, column 2: contains is called on a number, not on a string"))
  }

  @Test func `snapshots read the data at their path`() throws {
    let data: JSONValue = [
      "posts": ["p1": ["title": "T", "stars": 4, "open": true, ".priority": 7, "tags": ["a": true, "b": true]]]
    ]
    let held = [
      "data.exists()", "data.child('title').val() == 'T'", "data.child('title').isString()",
      "data.child('stars').isNumber()", "data.child('open').isBoolean()", "!data.isString()", "data.val() != null",
      "data.hasChildren()", "data.hasChildren(['title', 'stars'])", "!data.hasChildren(['title', 'none'])",
      "data.hasChild('tags/a')", "!data.child('title').hasChildren()", "data.parent().hasChild('p1')",
      "data.child('tags').parent().child('stars').val() == 4", "data.getPriority() == 7",
      "data.child('title').getPriority() == null", "root.child('posts').child($post).child('stars').val() > 3",
      "data.val() != data.val()", "root.child('/posts//p1/').exists()",
    ]
    for expression in held {
      #expect(
        try run(expression, data: data, at: "posts/p1", wildcards: ["$post": "p1"]) == .value(true), "\(expression)")
    }
  }

  @Test func `query gives the window's order, bounds and limits`() throws {
    let query: JSONValue = ["orderByChild": "owner/id", "equalTo": "ada", "limitToFirst": 10]
    let held = [
      "query.orderByChild == 'owner/id'", "query.equalTo == 'ada'", "query.limitToFirst <= 10",
      "query.limitToLast == null", "query.orderByKey == false", "query.startAt == 'ada'",
    ]
    for expression in held { #expect(try run(expression, query: query) == .value(true), "\(expression)") }
    #expect(try run("query.orderByKey && query.orderByChild == null && query.equalTo == null") == .value(true))
    #expect(try run("query.endAt == 3", query: ["orderByValue": true, "endAt": 3]) == .value(true))
    guard case .invalid = try run("query.orderByKey", as: "write") else { return #expect(Bool(false), "accepted") }
  }

  @Test func `validation sees the data before and after the write`() throws {
    let result = try run(
      "newData.val() == data.val() + 1 && newData.parent().child('x').val() == 2", as: "validate", data: ["n": 1],
      newData: ["n": 2, "x": 2], at: "n")
    #expect(result == .value(true))
  }

  @Test func `limits name what was exceeded`() throws {
    let deep = String(repeating: "(", count: 200) + "true" + String(repeating: ")", count: 200)
    guard case .invalid(let depth) = try run(deep) else { return #expect(Bool(false), "accepted") }
    #expect(depth.code == "limit")
    #expect(depth.message == "the expression is deeper than the limit expressionDepth (100)")
    let nots = String(repeating: "!", count: 10_000) + "true"
    guard case .invalid(let nested) = try run(nots) else { return #expect(Bool(false), "accepted") }
    #expect(nested.code == "limit")
    guard case .invalid(let long) = try run(String(repeating: " ", count: 20_000) + "true") else {
      return #expect(Bool(false), "accepted")
    }
    #expect(long.message == "the expression is longer than the limit expressionBytes (16384)")
    guard case .invalid(let pattern) = try run("'a'.matches(/(a{100}){100}/)") else { return #expect(Bool(false)) }
    #expect(pattern.message == "the regular expression is larger than the limit patternInstructions (2000)")
    // A long chain costs no depth.
    #expect(try run(Array(repeating: "1<2", count: 2_000).joined(separator: "&&")) == .value(true))
  }

  @Test func `an evaluation that takes too many steps fails`() throws {
    let text = JSONValue.string(String(repeating: "a", count: 1_000_000))
    let expression = Array(repeating: "root.child('t').val().matches(/(a|b|c|d|e|f|g)*z/)", count: 10)
      .joined(separator: " || ")
    guard case .failure(let reason) = try run(expression, data: ["t": text]) else { return #expect(Bool(false)) }
    #expect(reason.hasSuffix("the rule takes more steps than the limit steps"))
  }
}
