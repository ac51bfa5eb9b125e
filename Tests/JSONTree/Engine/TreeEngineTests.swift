import MartletJSON
import Testing

@testable import MartletJSONTree

/// Plays steps on an engine and writes the events as lines.
struct EngineScript {
  var engine = TreeEngine()
  var requests: [TreeEngine.Request] = []
  private var nextWrite: Int64 = 1

  static func node(_ text: String) throws -> TreeNode { try TreeReader().read(JSONValue(parsing: text)) }

  mutating func play(_ outcome: TreeEngine.Outcome) -> [String] {
    requests += outcome.requests
    return outcome.events.map(Self.line)
  }

  /// `LISTENER KIND KEY VALUE <PREVIOUS`, with `?` after what is not acknowledged.
  static func line(_ event: TreeEvent) -> String {
    let kinds: [TreeEvent.Kind: String] = [
      .childRemoved: "-", .childAdded: "+", .childMoved: "~", .childChanged: "*", .childAcknowledged: "ack",
      .value: "value", .valueAcknowledged: "ack value", .writeRejected: "rejected", .cancelled: "cancelled",
    ]
    var words = ["\(event.listener.number)", kinds[event.kind] ?? "", event.key?.text ?? ""]
    words.append(event.node.exportedJSON().description)
    if let previous = event.previousKey { words.append("<\(previous)") }
    if let reason = event.reason { words.append(reason) }
    return words.filter { !$0.isEmpty }.joined(separator: " ") + (event.isAcknowledged ? "" : " ?")
  }

  mutating func listen(_ path: String, _ window: Window = .all, _ id: Int64 = 1) throws -> [String] {
    play(engine.listen(at: try TreePath(path), window, as: ListenerID(id)))
  }
  mutating func server(_ path: String, _ value: String, tag: Int? = nil) throws -> [String] {
    let (path, node) = (try TreePath(wire: path), try Self.node(value))
    return play(
      tag.map { engine.serverOverwrite(path, with: node, tag: $0) } ?? engine.serverOverwrite(path, with: node))
  }
  mutating func set(_ path: String, _ value: String) throws -> [String] {
    let id = nextWrite
    nextWrite += 1
    return play(engine.overwrite(try TreePath(wire: path), with: try Self.node(value), id: id))
  }
  mutating func update(_ path: String, _ value: String) throws -> [String] {
    let id = nextWrite
    nextWrite += 1
    let object = try JSONValue(parsing: value).object ?? [:]
    let path = try TreePath(path)
    return play(engine.merge(path, try TreeReader().readMerge(object, at: path), id: id))
  }
}

@Suite struct TreeEngineTests {
  @Test func `a refused write is reported with its reason to the listeners it concerns, after it is taken back`() throws
  {
    var script = EngineScript()
    _ = try script.listen("/a", .all, 1)
    _ = try script.listen("/a/x", .all, 2)
    _ = try script.listen("/b", .all, 3)
    _ = try script.server("/a", #"{"x":1}"#)
    _ = try script.set("/a/x", "2")
    let lines = script.play(script.engine.reject(1, reason: "/a/.validate is false"))
    #expect(
      lines == [
        "2 value 1", "1 * x 1", #"1 value {"x":1}"#, "2 rejected null /a/.validate is false",
        "1 rejected null /a/.validate is false",
      ])
    _ = try script.set("/a", "3")
    let second = script.engine.reject(2, reason: "no").events.filter { $0.kind == .writeRejected }
    #expect(second.map(\.writeID) == [2, 2])
    #expect(second.map(\.listener.number) == [2, 1])
  }

  @Test func `events of one update come as removals, additions, moves, changes, then the value`() throws {
    var script = EngineScript()
    let window = Window(order: .child(try TreePath("n")))
    #expect(try script.listen("/a", window) == [])
    #expect(
      try script.server("/a", #"{"x":{"n":1},"y":{"n":2},"z":{"n":3}}"#) == [
        #"1 + x {"n":1}"#, #"1 + y {"n":2} <x"#, #"1 + z {"n":3} <y"#,
        #"1 value {"x":{"n":1},"y":{"n":2},"z":{"n":3}}"#,
      ])
    #expect(
      try script.server("/a", #"{"x":{"n":9},"z":{"n":3,"m":1},"w":{"n":0}}"#) == [
        #"1 - y {"n":2}"#, #"1 + w {"n":0}"#, #"1 ~ x {"n":9} <z"#, #"1 * z {"m":1,"n":3} <w"#,
        #"1 * x {"n":9} <z"#, #"1 value {"w":{"n":0},"x":{"n":9},"z":{"m":1,"n":3}}"#,
      ])
  }

  @Test func `listeners of deeper nodes report before those above`() throws {
    var script = EngineScript()
    _ = try script.listen("/", .all, 1)
    _ = try script.listen("/a", .all, 2)
    _ = try script.listen("/a/b", .all, 3)
    #expect(
      try script.server("/", #"{"a":{"b":1}}"#) == [
        "3 value 1", "2 + b 1", #"2 value {"b":1}"#, #"1 + a {"b":1}"#, #"1 value {"a":{"b":1}}"#,
      ])
  }

  @Test func `a listener that knows only some children reports those and holds back the value`() throws {
    var script = EngineScript()
    _ = try script.listen("/a/b")
    _ = try script.server("/a/b", "1")
    #expect(try script.listen("/a", .all, 2) == ["2 + b 1"])
    #expect(try script.set("/a/c", "2") == ["2 + c 2 <b ?"])
    #expect(try script.server("/a", #"{"b":1}"#) == [#"2 value {"b":1,"c":2} ?"#])
  }

  @Test func `a local write is reported at once, its echo raises nothing, its acknowledgement is reported`() throws {
    var script = EngineScript()
    _ = try script.listen("/a")
    _ = try script.server("/a", #"{"x":1}"#)
    #expect(try script.set("/a/x", "2") == ["1 * x 2 ?", #"1 value {"x":2} ?"#])
    #expect(try script.server("/a/x", "2") == [])
    #expect(script.play(script.engine.acknowledge(1)) == ["1 ack x 2", #"1 ack value {"x":2}"#])
    #expect(script.play(script.engine.acknowledge(1)) == [])
  }

  @Test func `a confirmation that changes the value is a change and no acknowledgement`() throws {
    var script = EngineScript()
    _ = try script.listen("/a")
    _ = try script.server("/a", #"{"t":1}"#)
    _ = try script.set("/a/t", "5")
    #expect(try script.server("/a/t", "6") == [])
    #expect(script.play(script.engine.acknowledge(1)) == ["1 * t 6", #"1 value {"t":6}"#])
  }

  @Test func `a rejected write is taken back by ordinary events`() throws {
    var script = EngineScript()
    _ = try script.listen("/a")
    _ = try script.server("/a", #"{"x":1,"y":2}"#)
    _ = try script.update("/a", #"{"x":null,"z":3,"y":5}"#)
    #expect(
      script.play(script.engine.reject(1)) == [
        "1 - z 3", "1 + x 1", "1 * y 2 <x", #"1 value {"x":1,"y":2}"#,
      ])
  }

  @Test(arguments: ["null", "7"])
  func `children removed by a write of the parent are acknowledged with it`(value: String) throws {
    var script = EngineScript()
    _ = try script.listen("/a")
    _ = try script.server("/a", #"{"x":1,"y":2}"#)
    #expect(try script.set("/a", value) == ["1 - x 1 ?", "1 - y 2 ?", "1 value \(value) ?"])
    _ = try script.server("/a", value)
    #expect(
      script.play(script.engine.acknowledge(1)) == ["1 ack x null", "1 ack y null", "1 ack value \(value)"])
  }

  @Test func `a child touched by two writes is acknowledged with the last`() throws {
    var script = EngineScript()
    _ = try script.listen("/a")
    _ = try script.server("/a", #"{"x":{"m":0}}"#)
    _ = try script.set("/a/x/m", "1")
    _ = try script.set("/a/x/n", "2")
    _ = try script.server("/a/x/m", "1")
    #expect(script.play(script.engine.acknowledge(1)) == [])
    _ = try script.server("/a/x/n", "2")
    #expect(
      script.play(script.engine.acknowledge(2)) == [
        #"1 ack x {"m":1,"n":2}"#, #"1 ack value {"x":{"m":1,"n":2}}"#,
      ])
  }

  @Test func `data that was acknowledged when a listener came gets no acknowledgement`() throws {
    var script = EngineScript()
    _ = try script.listen("/a")
    _ = try script.server("/a", #"{"x":1,"y":1}"#)
    _ = try script.set("/a/x", "null")
    #expect(try script.listen("/a", .all, 2) == ["2 + y 1", #"2 value {"y":1} ?"#])
    _ = try script.server("/a/x", "null")
    #expect(
      script.play(script.engine.acknowledge(1)) == ["1 ack x null", #"1 ack value {"y":1}"#, #"2 ack value {"y":1}"#])
  }

  @Test func `a merge does not hide the server's changes of other children`() throws {
    var script = EngineScript()
    _ = try script.listen("/a")
    _ = try script.server("/a", #"{"x":1,"y":1}"#)
    _ = try script.update("/a", #"{"x":2}"#)
    #expect(try script.server("/a", #"{"x":9,"y":3}"#) == ["1 * y 3 <x", #"1 value {"x":2,"y":3} ?"#])
  }

  @Test func `a window that is full lets the next child enter when one leaves`() throws {
    var script = EngineScript()
    _ = try script.listen("/", .all, 1)
    _ = try script.server("/", #"{"a":{"1":1,"2":2,"3":3}}"#)
    #expect(
      try script.listen("/a", Window(limit: .first(2)), 2) == ["2 + 1 1", "2 + 2 2 <1", #"2 value {"1":1,"2":2}"#])
    let events = try script.set("/a/1", "null")
    #expect(events.prefix(3) == ["2 - 1 1 ?", "2 + 3 3 <2", #"2 value {"2":2,"3":3} ?"#])
    #expect(try script.set("/a/0", "0").prefix(3) == ["2 - 3 3", "2 + 0 0 ?", #"2 value {"0":0,"2":2} ?"#])
  }

  @Test func `a window whose next child is not known shrinks until the server fills it`() throws {
    var script = EngineScript()
    _ = try script.listen("/a", Window(limit: .last(2)))
    #expect(script.requests == [.listen(try TreePath("/a"), Window(limit: .last(2)), tag: 1)])
    _ = try script.server("/a", #"{"2":2,"3":3}"#, tag: 1)
    #expect(try script.set("/a/3", "null") == ["1 - 3 3 ?", #"1 value {"2":2} ?"#])
    let filled = [TreeWrite(path: ["3"], node: .empty), TreeWrite(path: ["1"], node: TreeNode(.int(1)))]
    let outcome = script.engine.serverMerge(try TreePath("/a"), filled, tag: 1)
    #expect(script.play(outcome) == ["1 + 1 1", #"1 value {"1":1,"2":2} ?"#])
  }

  @Test func `a listener of a whole node covers those at and below it, which come back when it goes`() throws {
    var script = EngineScript()
    let (root, a, b) = (TreePath.root, try TreePath("/a"), try TreePath("/a/b"))
    let window = Window(limit: .first(1))
    _ = try script.listen("/a/b", .all, 1)
    _ = try script.listen("/a", window, 2)
    script.requests = []
    _ = try script.listen("/", .all, 3)
    #expect(
      script.requests == [
        .listen(root, .all, tag: nil), .unlisten(a, window, tag: 1), .unlisten(b, .all, tag: nil),
      ])
    script.requests = []
    _ = try script.listen("/a", .all, 4)
    #expect(script.requests == [])
    _ = script.play(script.engine.unlisten(ListenerID(4), at: a))
    #expect(script.requests == [])
    _ = script.play(script.engine.unlisten(ListenerID(3), at: root))
    #expect(
      script.requests == [
        .listen(a, window, tag: 1), .listen(b, .all, tag: nil), .unlisten(root, .all, tag: nil),
      ])
  }

  @Test func `a cancelled listener gets one last event and nothing after it`() throws {
    var script = EngineScript()
    _ = try script.listen("/a")
    _ = try script.server("/a", "1")
    #expect(script.play(script.engine.cancel(at: try TreePath("/a"), reason: "denied")) == ["1 cancelled null denied"])
    #expect(try script.server("/a", "2") == [])
    #expect(try script.set("/a", "3") == [])
    #expect(script.engine.tree.isEmpty)
  }

  @Test func `an unknown value is nil, a known absence is empty`() throws {
    var script = EngineScript()
    let b = try TreePath("/a/b")
    #expect(script.engine.value(at: b) == nil)
    _ = try script.listen("/a")
    #expect(script.engine.value(at: b) == nil)
    _ = try script.server("/a", #"{"c":1}"#)
    #expect(script.engine.value(at: b) == .empty)
    _ = try script.set("/x", "1")
    #expect(script.engine.value(at: try TreePath("/x")) == TreeNode(.int(1)))
    #expect(script.engine.value(at: try TreePath("/y")) == nil)
  }

  @Test func `a refused write that was all that was known of a value is not reported as acknowledged`() throws {
    var script = EngineScript()
    _ = try script.listen("/a")
    #expect(try script.set("/a", #"{"x":1}"#) == ["1 + x 1 ?", #"1 value {"x":1} ?"#])
    #expect(script.play(script.engine.reject(1)) == ["1 - x 1"])
    #expect(script.engine.value(at: ["a"]) == nil)
    #expect(try script.server("/a", "null") == ["1 value null"])
  }
}
