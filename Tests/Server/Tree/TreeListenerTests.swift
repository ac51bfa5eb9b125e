import MartletJSON
import MartletJSONTree
import Testing

@testable import MartletServer

/// What a listener shows when changes come while its value is read, and when the owner drops changes.
@Suite struct TreeListenerTests {
  /// What a client knows by what it was shown.
  private final class Shown {
    var value = TreeNode.empty
    var values = 0
    var gaps: [String] = []

    func take(_ showing: TreeShowing) {
      switch showing {
      case .value(let node): (value, values) = (node, values + 1)
      case .gap(let reason, _): gaps.append(reason)
      case .changes(let changes):
        for write in changes.writes { value = value.setting(write.path, to: write.node) }
      case .part, .resumed, .ended: Issue.record("\(showing)")
      }
    }
  }

  private static func node(_ json: JSONValue) throws -> TreeNode { try TreeReader(limits: TreeLimits()).read(json) }

  private let shown = Shown()
  private let listener: TreeListener

  init() {
    let shown = shown
    listener = TreeListener(at: .root, .all, as: .guest) { shown.take($1) }
  }

  private func delete(_ key: TreeKey, at offset: Int64) {
    listener.take(SharedChanges([TreeWrite(path: [key], node: .empty)], at: offset), at: offset)
  }

  /// Answers reads until no other one is needed.
  private func answer(_ found: TreeReads.Found) {
    while listener.received(found) { #expect(listener.beginReading()) }
  }

  @Test func `a deletion that comes while the first value is read follows it`() throws {
    #expect(listener.beginReading())
    delete("x", at: 5)
    #expect(!listener.received(TreeReads.Found(node: try Self.node(["x": 1, "y": 2]), head: 4)))
    #expect(shown.value == (try Self.node(["y": 2])))
    #expect(listener.offset == 5)
  }

  @Test func `a deletion that comes while the first value is read is not lost when changes are dropped meanwhile`()
    throws
  {
    #expect(listener.beginReading())
    delete("x", at: 5)
    listener.restart()
    // What the owner asks for then: another read, which has to wait for the one under way.
    #expect(!listener.beginReading())
    // That one began before the deletion.
    let isNeeded = listener.received(TreeReads.Found(node: try Self.node(["x": 1, "y": 2]), head: 4))
    #expect(isNeeded)
    #expect(listener.beginReading())
    answer(TreeReads.Found(node: try Self.node(["y": 2]), head: 5))
    #expect(shown.value == (try Self.node(["y": 2])))
    #expect(shown.values == 1)
    #expect(!listener.isWaiting)
  }

  @Test func `a deletion that comes while a value is read again is not lost when changes are dropped once more`() throws
  {
    #expect(listener.beginReading())
    answer(TreeReads.Found(node: try Self.node(["x": 1, "y": 2, "z": 3]), head: 1))
    listener.restart()
    #expect(listener.beginReading())
    delete("x", at: 5)
    listener.restart()
    #expect(!listener.beginReading())
    #expect(listener.received(TreeReads.Found(node: try Self.node(["x": 1, "y": 2, "z": 3]), head: 4)))
    #expect(listener.beginReading())
    answer(TreeReads.Found(node: try Self.node(["y": 2, "z": 3]), head: 6))
    #expect(shown.value == (try Self.node(["y": 2, "z": 3])))
    #expect(shown.gaps == ["slow-client"])
  }
}
