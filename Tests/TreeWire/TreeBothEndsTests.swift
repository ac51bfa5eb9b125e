import MartletJSON
import MartletJSONTree
import MartletVocabulary
import Testing

@testable import MartletTreeWire

/// A client's engine and machine, an imaginary wire, and a server that is a tree, an index and windows.
struct TreePair {
  var client: TreeClientMachine
  var server: TreeServerMachine
  var engine = TreeEngine()
  var tree: TreeNode
  var index = ListenerIndex<Int64>()
  var watched: [Int64: (path: TreePath, window: Window, tag: Int64?)] = [:]
  var toServer: [String] = []
  var toClient: [String] = []
  var nextID: Int64 = 1
  var events: [TreeEvent] = []
  var answers: [Int64: TreeAnswer] = [:]
  var frameCount = 0

  init(limits: TreeWireLimits, tree: TreeNode) {
    client = TreeClientMachine(limits: limits)
    server = TreeServerMachine(limits: limits)
    self.tree = tree
  }

  mutating func connect() {
    client.opened(now: .zero)
    perform(server.opened(milliseconds: 5, host: "h", session: "s"))
    run()
  }

  mutating func ask(_ request: TreeRequest) {
    perform(client.request(nextID, request, now: .zero))
    nextID += 1
    run()
  }

  mutating func listen(_ path: TreePath, _ window: Window) {
    let outcome = engine.listen(at: path, window, as: ListenerID(nextID))
    follow(outcome)
    run()
  }

  mutating func set(_ path: TreePath, _ json: JSONValue) throws {
    let id = nextID
    follow(engine.overwrite(path, with: try TreeReader().read(json), id: id))
    perform(client.request(id, .put(path, json, expectedHash: nil), now: .zero))
    nextID += 1
    run()
  }

  mutating func run() {
    while !toServer.isEmpty || !toClient.isEmpty {
      if !toServer.isEmpty { perform(server.receive(toServer.removeFirst())) }
      if !toClient.isEmpty { perform(client.receive(toClient.removeFirst(), now: .zero)) }
    }
  }

  private mutating func follow(_ outcome: TreeEngine.Outcome) {
    events += outcome.events
    for request in outcome.requests {
      switch request {
      case .listen(let path, let window, let tag):
        perform(
          client.request(nextID, .listen(path, window, tag: tag.map(Int64.init), hash: nil), now: .zero))
      case .unlisten(let path, let window, let tag):
        perform(client.request(nextID, .unlisten(path, window, tag: tag.map(Int64.init)), now: .zero))
      case .watch, .unwatch: Issue.record("nothing is watched here")
      }
      nextID += 1
    }
  }

  private mutating func perform(_ actions: [TreeClientMachine.Action]) {
    for action in actions {
      switch action {
      case .send(let frames):
        toServer += frames
        frameCount += frames.count
      case .push(.overwrite(let path, let json, let tag)):
        let node = (try? TreeReader().read(json)) ?? .empty
        follow(
          tag.map { engine.serverOverwrite(path, with: node, tag: Int($0)) }
            ?? engine.serverOverwrite(path, with: node))
      case .push(.merge(let path, let object, let tag)):
        let parts = (try? TreeReader().readMerge(object, at: path)) ?? []
        follow(
          tag.map { engine.serverMerge(path, parts, tag: Int($0)) } ?? engine.serverMerge(path, parts))
      case .answered(let id, let answer):
        answers[id] = answer
        follow(answer.isOK ? engine.acknowledge(id) : engine.reject(id))
      case .connected, .position, .push, .reset, .shutDown: continue
      case .close(let error): Issue.record("the client closes: \(error)")
      }
    }
  }

  private mutating func perform(_ actions: [TreeServerMachine.Action]) {
    for action in actions {
      switch action {
      case .send(let frames):
        toClient += frames
        frameCount += frames.count
      case .request(let number, let request, _): carryOut(number, request)
      case .pinged: continue
      case .close(let error): Issue.record("the server closes: \(error)")
      }
    }
  }

  private mutating func carryOut(_ number: Int64, _ request: TreeRequest) {
    switch request {
    case .listen(let path, let window, let tag, let hash, _):
      let part = OrderedChildren(tree.node(at: path), order: window.order).node(in: window)
      watched[number] = (path, window, tag)
      index.insert(number, at: path)
      if hash != TreeHash.hash(part) { perform(server.push(.overwrite(path, part.exportedJSON(), tag: tag))) }
      perform(server.answer(number, .ok))
    case .unlisten(let path, let window, _):
      for (id, entry) in watched where entry.path == path && entry.window == window {
        index.remove(id, at: path)
        watched[id] = nil
      }
      perform(server.answer(number, .ok))
    case .put(let path, let json, _):
      guard path.first != "locked" else {
        return perform(server.answer(number, TreeAnswer(status: "permission_denied", data: "locked")))
      }
      tree = tree.setting(path, to: (try? TreeReader().read(json)) ?? .empty)
      var concerned: [Int64] = []
      index.forEach(concernedBy: path) { id, _ in concerned.append(id) }
      for id in concerned.sorted() {
        guard let entry = watched[id] else { continue }
        let part = OrderedChildren(tree.node(at: entry.path), order: entry.window.order).node(in: entry.window)
        perform(server.push(.overwrite(entry.path, part.exportedJSON(), tag: entry.tag)))
      }
      perform(server.answer(number, .ok))
    case .get(let path, _):
      perform(server.answer(number, TreeAnswer(status: "ok", data: tree.node(at: path).json())))
    case .merge, .deferredPut, .deferredMerge, .cancelDeferred, .authenticate, .unauthenticate, .attest, .stats, .watch,
      .unwatch:
      perform(server.answer(number, .ok))
    }
  }
}

@Suite struct TreeBothEndsTests {
  @Test(arguments: [16_384, 40, 4])
  func `both ends agree over whole frames and over frames of a few bytes`(frameBytes: Int) throws {
    var limits = TreeWireLimits()
    limits.frameBytes = frameBytes
    let tree = try TreeReader().read(["a": ["x": 1, "y": "é\u{1F600}", "z": ["n": 2]], "locked": ["k": 1]])
    var pair = TreePair(limits: limits, tree: tree)
    pair.connect()
    pair.listen(["a"], .all)
    pair.listen(["locked"], Window(limit: .first(1)))
    #expect(pair.engine.value(at: ["a"]) == tree.child("a"))
    #expect(pair.events.filter { $0.kind == .value }.count == 2)
    try pair.set(["a", "w"], ["deep": [true, 0.5]])
    #expect(pair.engine.value(at: ["a"]) == pair.tree.child("a"))
    #expect(pair.tree.node(at: ["a", "w"]).json(asArrays: true) == ["deep": [true, 0.5]])
    #expect(pair.engine.writes.all.isEmpty)
    let before = pair.engine.value(at: ["a"])
    try pair.set(["locked", "k"], 2)
    #expect(pair.events.last?.node.json() == ["k": 1])
    #expect(pair.engine.value(at: ["a"]) == before)
    pair.ask(.get(["a", "x"], .all))
    #expect(pair.answers[pair.nextID - 1]?.data == 1)
    #expect(pair.client.unansweredCount == 0)
    if frameBytes < 100 { #expect(pair.frameCount > 40) }
  }

  @Test(arguments: 0..<40)
  func `garbage ends in the peer's error and in nothing else`(seed: Int) {
    var chance = SeededRandom(seed: UInt64(seed))
    let samples = [
      #"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","q":{"sp":1,"l":3,"i":"n"},"t":9,"h":"x"}}}"#,
      #"{"t":"c","d":{"t":"h","d":{"ts":1,"v":"5","h":"h","s":"s"}}}"#,
      #"{"t":"d","d":{"a":"rm","b":{"p":"a","d":[{"s":"a","e":"b/c","m":{"b":1}}]}}}"#, "3", "0", "-1", "",
    ]
    for _ in 0..<100 {
      var server = TreeServerMachine()
      var client = TreeClientMachine()
      client.opened(now: .zero)
      for _ in 0..<6 {
        var bytes = Array(samples[Int(chance.next() % UInt64(samples.count))].utf8)
        for _ in 0..<Int(chance.next() % 4) where !bytes.isEmpty {
          bytes[Int(chance.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: chance.next() % 128)
        }
        let frame = String(decoding: bytes, as: UTF8.self)
        _ = server.receive(frame)
        _ = client.receive(frame, now: .zero)
      }
    }
  }
}
