import MartletChangeFeed
import MartletCommandLine
import MartletJSON
import MartletJSONTree
import MartletVocabulary
import Testing

@testable import MartletCommand

/// A database export, read piece by piece, against the tree that it means.
@Suite struct ExportReaderTests {
  private func tree(_ text: String, at base: TreePath = .root) throws -> (node: TreeNode, writes: Int, held: Int) {
    var reader = ExportReader(ByteSource(Array(text.utf8)), at: base)
    var (node, writes) = (TreeNode.empty, 0)
    while true {
      let changes = try reader.next()
      if changes.isEmpty { return (node, writes, reader.mostHeld) }
      writes += changes.count
      for change in changes { node = node.setting(change.path, to: change.node) }
    }
  }

  @Test(arguments: [
    #"{"a": {"b": [true, null, "x"], "c": -1.5e3}, "é\"": {"deep": {"er": 12}}, "n": null, "e": {}}"#,
    #"{"list": {".priority": 2, "a": {".priority": "p", ".value": "x"}, "b": 1}}"#,
    #" "text" "#, "null", "[1, [2, 3]]", "{}",
  ])
  func `a small export is one write of the tree that it means`(text: String) throws {
    let read = try tree(text)
    let expected = try TreeReader().read(JSONValue(parsing: text))
    #expect(read.node == expected)
    #expect(read.writes == (expected.isEmpty ? 0 : 1))
  }

  @Test func `a large export is written in parts, with a bounded part of it held`() throws {
    var chance = SeededRandom(seed: 4)
    func node(_ depth: Int) -> JSONValue {
      if depth == 0 { return .int(Int64.random(in: 0...9, using: &chance)) }
      var object = JSONObject()
      if depth == 2 { object[".priority"] = .int(Int64(depth)) }
      for number in 0..<Int.random(in: 1...30, using: &chance) { object["k\(number)"] = node(depth - 1) }
      return .object(object)
    }
    var object = JSONObject()
    for number in 0..<12 { object["top\(number)"] = node(3) }
    let json = JSONValue.object(object)
    let read = try tree(json.description, at: ["old"])
    #expect(read.node == TreeNode.empty.setting(["old"], to: try TreeReader().read(json)))
    #expect(read.writes > 100)
    #expect(read.held <= 4 * ExportReader.heldWeight + 100)
  }

  @Test(arguments: [
    #"{"a": 1"#, #"{"a" 1}"#, #"{"a": 1 "b": 2}"#, #"{"a.b": 1}"#, #"{"a": tru}"#, #"{"a": {".value": {}}}"#, "{} {}",
    "",
    #"{"a": "x}"#, "[1,", #"{a: 1}"#,
  ])
  func `what is not an export is refused with a place`(text: String) {
    #expect(throws: CommandFailure.self) { try tree(text) }
  }

  @Test func `an export that is deeper than the tree is refused`() {
    let text = String(repeating: #"{"a":"#, count: 40) + "1" + String(repeating: "}", count: 40)
    #expect(throws: CommandFailure.self) { try tree(text) }
  }
}
