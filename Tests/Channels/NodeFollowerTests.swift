import MartletChannels
import MartletJSON
import MartletJSONTree
import MartletVocabulary
import Testing

/// Which events the writes of the log are for a node.
@Suite struct NodeFollowerTests {
  static func node(_ json: JSONValue) -> TreeNode { (try? TreeReader().read(json)) ?? .empty }

  static func write(_ path: String, _ json: JSONValue) -> NodeWrite {
    NodeWrite(path: (try? TreePath(wire: path)) ?? .root, node: node(json))
  }

  private static func follower(
    _ events: ChannelEvents, _ json: JSONValue, at offset: Int64 = 0, keys: Set<TreeKey>? = nil
  ) -> NodeFollower {
    NodeFollower(["rooms"], events, carriesData: true, node: node(json), at: offset, keys: keys)
  }

  @Test func `a value's event has the whole value after the write`() {
    var follower = Self.follower(.valueChange, ["a": 1])
    let step = follower.take([Self.write("/rooms/b", 2)], at: 1)
    #expect(step?.found == [.init(kind: .valueChange, number: 0, path: ["rooms"], value: ["a": 1, "b": 2])])
    #expect(follower.take([Self.write("/other", 2)], at: 2) == nil)
    // The same value again changes nothing.
    #expect(follower.take([Self.write("/rooms/b", 2)], at: 3)?.found == [])
    #expect(follower.take([Self.write("/", ["rooms": 7])], at: 4)?.found.first?.value == 7)
    #expect(follower.take([Self.write("/", nil)], at: 5)?.found.first?.value == .null)
  }

  @Test func `children are added, changed and removed`() {
    var follower = Self.follower(.childEvent, ["a": 1, "b": ["x": 1, "y": 2]])
    let step = follower.take(
      [Self.write("/rooms/a", nil), Self.write("/rooms/b/x", nil), Self.write("/rooms/c", 3)], at: 1)
    #expect(
      step?.found == [
        .init(kind: .childRemoval, number: 0, path: ["rooms", "a"], value: .null),
        .init(kind: .childChange, number: 1, path: ["rooms", "b"], value: ["y": 2]),
        .init(kind: .childAddition, number: 2, path: ["rooms", "c"], value: 3),
      ])
    // The last leaf below a child takes the child with it.
    #expect(follower.take([Self.write("/rooms/b/y", nil)], at: 2)?.found.map(\.kind) == [.childRemoval])
    // A write above the node replaces all of its children.
    let whole = follower.take([Self.write("/", ["rooms": ["c": 3, "d": 4]])], at: 3)
    #expect(whole?.found.map(\.kind) == [.childAddition])
    #expect(follower.take([Self.write("/rooms", 5)], at: 4)?.found.map(\.kind) == [.childRemoval, .childRemoval])
  }

  @Test func `kinds that were not asked for are left out and remembered`() {
    var follower = Self.follower(.childRemoval, nil)
    #expect(follower.take([Self.write("/rooms/a", 1)], at: 1)?.existence.count == 1)
    #expect(follower.take([Self.write("/rooms/a", nil)], at: 2)?.found.map(\.kind) == [.childRemoval])
  }

  @Test func `after a restart each write is shown again, and what exists follows the receiver's knowledge`() {
    // The value contains both writes already; the receiver knows of neither.
    var follower = Self.follower(.childEvent, ["a": 2], at: 9, keys: ["b"])
    #expect(follower.take([Self.write("/rooms/a", 1)], at: 7)?.found.map(\.kind) == [.childAddition])
    #expect(follower.take([Self.write("/rooms/b", nil)], at: 8)?.found.map(\.kind) == [.childRemoval])
    #expect(follower.take([Self.write("/rooms/a", 2)], at: 9)?.found.map(\.kind) == [.childChange])
    #expect(follower.take([Self.write("/rooms/a", 2)], at: 10)?.found == [])
  }

  @Test(arguments: 0..<30 as Range<UInt64>)
  func `events of children lead from what the receiver had to the node's children, also after a restart`(
    seed: UInt64
  ) throws {
    var random = SeededRandom(seed: seed)
    func below(_ bound: UInt64) -> UInt64 { random.next() % bound }
    var tree = TreeNode.empty
    var log: [(writes: [NodeWrite], offset: Int64)] = []
    var follower = Self.follower(.childEvent, nil)
    var known: Set<TreeKey> = []
    var durable: (offset: Int64, keys: Set<TreeKey>) = (0, [])
    func receive(_ step: NodeFollower.Step?) {
      for found in step?.found ?? [] {
        guard let key = found.path.key else { continue }
        switch found.kind {
        case .childAddition: #expect(known.insert(key).inserted, "seed \(seed): \(key) was added twice")
        case .childRemoval: #expect(known.remove(key) != nil, "seed \(seed): \(key) was not there")
        default: #expect(known.contains(key), "seed \(seed): \(key) changed and was not there")
        }
      }
    }
    for offset in 1...200 as ClosedRange<Int64> {
      let paths = ["/rooms/a", "/rooms/a/x", "/rooms/b/x/y", "/rooms/c", "/rooms", "/", "/rooms/b", "/other"]
      let values: [JSONValue] = [nil, 1, ["x": 1], ["rooms": ["a": 1, "q": ["x": 2]]], ["b": 3]]
      let writes = (0...below(2)).map { _ in
        Self.write(paths[Int(below(8))], values[Int(below(5))])
      }
      for write in writes { tree = tree.setting(write.path, to: write.node) }
      log.append((writes, offset))
      receive(follower.take(writes, at: offset))
      if below(7) == 0 { durable = (offset, known) }
      guard below(15) == 0 else { continue }
      // What the receiver got since the record is sent again: it starts from what it had then.
      known = durable.keys
      follower = NodeFollower(
        ["rooms"], .childEvent, carriesData: true, node: tree.node(at: ["rooms"]), at: offset, keys: durable.keys)
      for entry in log where entry.offset > durable.offset { receive(follower.take(entry.writes, at: entry.offset)) }
      #expect(known == NodeFollower.keys(of: tree.node(at: ["rooms"])), "seed \(seed)")
    }
    #expect(known == NodeFollower.keys(of: tree.node(at: ["rooms"])), "seed \(seed)")
  }
}
