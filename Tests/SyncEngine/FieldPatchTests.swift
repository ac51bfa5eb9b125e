import MartletJSON
import MartletSyncEngine
import Testing

@Suite struct FieldPatchTests {
  struct Case: Sendable {
    var current: JSONValue
    var old: JSONValue
    var new: JSONValue
    var made: JSONValue
    init(_ current: JSONValue, _ old: JSONValue, _ new: JSONValue, gives made: JSONValue) {
      (self.current, self.old, self.new, self.made) = (current, old, new, made)
    }
  }

  @Test(arguments: [
    Case("theirs", "before", "mine", gives: "mine"),
    Case(["a"], ["a"], ["b"], gives: ["b"]),
    Case(["a", "theirs"], ["a"], ["a", "mine"], gives: ["a", "theirs", "mine"]),
    Case(["theirs"], ["a"], ["a", "mine"], gives: ["theirs", "mine"]),
    Case(["a", "b", "theirs"], ["a", "b"], ["a"], gives: ["a", "theirs"]),
    Case(["a", "a", "theirs"], ["a", "a"], ["a"], gives: ["a", "theirs"]),
    Case(["a", "mine", "theirs"], ["a"], ["a", "mine"], gives: ["a", "mine", "theirs"]),
    Case(["a", "a", "theirs"], ["a"], ["a", "a"], gives: ["a", "a", "theirs"]),
    Case(["a", "theirs"], ["a"], ["a", "a"], gives: ["a", "theirs", "a"]),
    Case(["theirs"], ["a", "b"], ["a"], gives: ["theirs"]),
    Case([1.0, 2], [1], [1, 3], gives: [1.0, 2, 3]),
    Case(
      [["n": 1], ["n": 3]], [["n": 1, "m": .null]], [["n": 1, "m": .null], ["n": 2]],
      gives: [["n": 1], ["n": 3], ["n": 2]]),
    Case(["x": 9, "y": 2], ["x": 1, "y": 2], ["x": 1, "y": 2, "z": .null], gives: ["x": 9, "y": 2]),
    Case(.null, ["a"], ["a", "mine"], gives: ["a", "mine"]),
    Case(["theirs"], .null, ["mine"], gives: ["mine"]),
    Case(["theirs"], ["a"], .null, gives: .null),
    Case(["x": 9, "y": 2, "z": 3], ["x": 1, "y": 2], ["x": 1, "y": 5], gives: ["x": 9, "y": 5, "z": 3]),
    Case(
      ["x": ["a", "theirs"], "y": 2], ["x": ["a"], "y": 1], ["x": ["a", "mine"], "y": 1],
      gives: ["x": ["a", "theirs", "mine"], "y": 2]),
  ])
  func `a change that is made again keeps what others have done to a list or to other members`(_ test: Case) {
    #expect(FieldPatch(field: 0, old: test.old, new: test.new).made(on: test.current) == test.made)
  }
}
