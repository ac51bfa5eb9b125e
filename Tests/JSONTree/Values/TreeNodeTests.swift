import MartletJSON
import MartletVocabulary
import Testing

@testable import MartletJSONTree

@Suite struct TreeNodeTests {
  static func node(_ json: JSONValue) throws -> TreeNode { try TreeReader().read(json) }

  @Test(arguments: [
    ("null", "null"), ("{}", "null"), (#"{"a":{}}"#, "null"), (#"{"b":1,"a":null}"#, #"{"b":1}"#),
    (#"{"10":1,"9":2,"a":3}"#, #"{"9":2,"10":1,"a":3}"#), ("[1,null,3]", #"{"0":1,"2":3}"#), ("[]", "null"),
    ("1.0", "1"), ("1e3", "1000"), ("0.5", "0.5"), ("true", "true"),
    (#"{"a":{".value":1,".priority":2}}"#, #"{"a":1}"#), (#"{".value":null,".priority":2}"#, "null"),
  ])
  func `a value is read as the tree keeps it`(text: String, expected: String) throws {
    #expect(try Self.node(JSONValue(parsing: text)).json().description == expected)
  }

  @Test(arguments: [
    #"{"a":{".value":1,".priority":2},"b":{"c":true,".priority":"x"}}"#, #"{".value":"t",".priority":1.5}"#, "7",
  ])
  func `a value with priorities is written as it was read`(text: String) throws {
    let json = try JSONValue(parsing: text)
    #expect(try Self.node(json).exportedJSON() == json)
  }

  @Test(arguments: [
    (#"{"0":"a","1":"b"}"#, #"["a","b"]"#), (#"{"1":"b"}"#, #"[null,"b"]"#), (#"{"2":"c"}"#, #"{"2":"c"}"#),
    (#"{"0":1,"x":2}"#, #"{"0":1,"x":2}"#), (#"{"00":1}"#, #"{"00":1}"#), (#"{"-1":1,"0":2}"#, #"{"-1":1,"0":2}"#),
    (#"{"a":{"0":1}}"#, #"{"a":[1]}"#),
  ])
  func `children become an array only on request, when integer keys fill more than half`(
    text: String, array: String
  ) throws {
    let node = try Self.node(JSONValue(parsing: text))
    #expect(node.json().description == text)
    #expect(node.json(asArrays: true).description == array)
  }

  @Test func `a write below a leaf replaces it, and removing the last child removes its parents`() throws {
    let leaf = try Self.node(["a": 1])
    let below = leaf.setting(try TreePath("a/b/c"), to: TreeNode(.bool(true)))
    #expect(below.json() == ["a": ["b": ["c": true]]])
    #expect(below.setting(try TreePath("a/b/c"), to: .empty).isEmpty)
    #expect(leaf.setting(try TreePath("a/b"), to: .empty) == leaf)
  }

  @Test func `equality is by leaves and priorities`() throws {
    let (one, two) = (try Self.node(["a": 1, "b": ["c": 2]]), try Self.node(["b": ["c": 2], "a": 1]))
    #expect(one == two)
    #expect(one != two.setting(try TreePath("b/c"), to: TreeNode(.int(2), priority: .int(1))))
    #expect(one.withPriority(.int(1)) != one)
  }

  private static func refused(_ text: String, _ limits: TreeLimits = TreeLimits()) -> TreeError? {
    do {
      _ = try TreeReader(limits: limits).read(try JSONValue(parsing: text), at: try TreePath("/p"))
      return nil
    } catch {
      return error as? TreeError
    }
  }

  @Test func `what exceeds a limit is refused with its path and the limit`() throws {
    var limits = TreeLimits()
    (limits.depth, limits.keyBytes, limits.textBytes, limits.writeBytes, limits.children) = (3, 4, 5, 30, 2)
    let p = try TreePath("/p")
    #expect(Self.refused(#"{"a":{"b":1}}"#, limits) == nil)
    #expect(Self.refused(#"{"a":{"b":{"c":1}}}"#, limits) == TreeError(.tooDeep, at: p.child("a").child("b"), limit: 3))
    #expect(Self.refused(#"{"abcde":1}"#, limits) == TreeError(.keyTooLong, at: p, limit: 4))
    #expect(Self.refused(#"{"a":"123456"}"#, limits) == TreeError(.textTooLong, at: p.child("a"), limit: 5))
    #expect(Self.refused(#"{"a":1,"b":1,"c":1}"#, limits) == TreeError(.tooManyChildren, at: p, limit: 2))
    let large = #"{"a":{"x":1,"y":1},"b":{"x":1,"y":1}}"#
    #expect(Self.refused(large, limits)?.code == .writeTooLarge)
    #expect(Self.refused(#"{"a/b":1}"#)?.code == .forbiddenCharacter)
    #expect(Self.refused(#"{"a":{".priority":true,"b":1}}"#)?.code == .invalidPriority)
    #expect(Self.refused(#"{"a":{".value":1,"b":1}}"#)?.code == .invalidLeaf)
    #expect(Self.refused(#"{"a":{".value":[1]}}"#)?.code == .invalidLeaf)
    #expect(Self.refused(#"{".sv":"timestamp"}"#)?.code == .invalidServerValue)
    #expect(TreeError(.keyTooLong, at: p, limit: 4).description == "/p: a key is longer than the limit keyBytes (4)")
  }

  @Test func `a merge names several paths, none above another`() throws {
    let reader = TreeReader()
    let writes = try reader.readMerge(["a/b": 1, "c": ["d": 2]], at: .root)
    #expect(writes.map(\.path.description) == ["/a/b", "/c"])
    #expect(throws: TreeError(.overlappingPaths, at: try TreePath("/p/a/b"))) {
      try reader.readMerge(["a/b": 1, "a": 2], at: try TreePath("/p"))
    }
    #expect(throws: TreeError(.emptyKey, at: .root)) { try reader.readMerge(["": 1], at: .root) }
  }

  @Test(arguments: [
    (#"{".sv":"timestamp"}"#, "null", "1234"), (#"{".sv":{"increment":2}}"#, "40", "42"),
    (#"{".sv":{"increment":2}}"#, "null", "2"), (#"{".sv":{"increment":2}}"#, #""text""#, "2"),
    (#"{".sv":{"increment":0.5}}"#, "1", "1.5"), (#"{".sv":{"increment":0.5}}"#, "1.5", "2"),
    (#"{".sv":{"increment":1}}"#, "9223372036854775807", "9.223372036854776e+18"),
    (#"{"n":{".sv":{"increment":1}}}"#, #"{"n":4}"#, #"{"n":5}"#),
    (#"{".value":{".sv":"timestamp"},".priority":{".sv":"timestamp"}}"#, "null", "1234"),
  ])
  func `server values are resolved over the value that is there`(text: String, existing: String, expected: String)
    throws
  {
    let reader = TreeReader(serverValues: ServerValues(milliseconds: 1_234))
    let node = try reader.read(JSONValue(parsing: text), existing: Self.node(JSONValue(parsing: existing)))
    #expect(node.json().description == expected)
  }

  @Test func `an unknown server value is refused`() {
    let reader = TreeReader(serverValues: ServerValues(milliseconds: 1))
    for json: JSONValue in [
      [".sv": "now"], [".sv": ["increment": "1"]], [".sv": ["increment": 1, "x": 2]], [".sv": 1],
    ] {
      #expect(throws: TreeError.self) { try reader.read(json) }
    }
  }

  @Test func `values are ordered null, false, true, numbers, texts, objects`() throws {
    let texts = [
      "null", "false", "true", "-1e300", "-9223372036854775808", "-1", "0", "0.5", "1", "9007199254740993", "1e300",
      #""""#, #""a""#, "\"\u{1F600}\"", "\"\u{E000}\"", #"{"a":1}"#,
    ]
    let values = try texts.map { try OrderValue(Self.node(JSONValue(parsing: $0))) }
    #expect(values.shuffledBySeed(4).sorted() == values)
  }
}
