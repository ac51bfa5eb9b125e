import MartletJSON
import MartletVocabulary
import Testing

@testable import MartletJSONTree

/// Random operations on an engine, compared after each with a naive model: what listeners see, the order of events,
/// previous keys, and acknowledgement.
struct EngineModel {
  struct Write {
    var id: Int64
    var path: [String]
    var parts: [([String], NaiveTree)]
  }

  /// What a listener has made of its events.
  struct Mirror {
    var path: [String]
    var window: Window
    var children: [String: TreeNode] = [:]
    var value: TreeNode?
    var unacknowledged: Set<String> = []
    var isValueUnacknowledged = false
  }

  var chance: SeededRandom
  var engine = TreeEngine()
  var server = NaiveTree.none
  var pending: [Write] = []
  var mirrors: [Int64: Mirror] = [:]
  var nextID: Int64 = 1
  var log: [String] = []

  init(seed: UInt64) {
    chance = SeededRandom(seed: seed)
  }

  static func path(_ keys: [String]) -> TreePath { TreePath(keys.map { TreeKey(unchecked: $0) }) }

  var shown: NaiveTree {
    pending.reduce(server) { tree, write in
      write.parts.reduce(tree) { $0.setting(write.path + $1.0, $1.1) }
    }
  }

  func touches(_ path: [String]) -> Bool {
    pending.contains { write in
      write.parts.contains { part in
        let whole = write.path + part.0
        return whole.starts(with: path) || path.starts(with: whole)
      }
    }
  }

  mutating func check(_ condition: Bool, _ text: @autoclosure () -> String) {
    if !condition { Issue.record("\(text())\n\(log.suffix(12).joined(separator: "\n"))") }
  }

  /// Lets each listener take its events, and compares.
  mutating func take(_ outcome: TreeEngine.Outcome, isComparing: Bool = true) {
    for (listener, events) in Dictionary(grouping: outcome.events, by: \.listener) {
      guard var mirror = mirrors[listener.number] else {
        check(false, "an event for listener \(listener.number), which is gone")
        continue
      }
      let kinds = events.map(\.kind)
      check(kinds == kinds.sorted(), "listener \(listener.number) got events in the order \(kinds)")
      for event in events { apply(event, to: &mirror) }
      mirrors[listener.number] = mirror
    }
    if isComparing { compare(outcome.events) }
  }

  private mutating func apply(_ event: TreeEvent, to mirror: inout Mirror) {
    let key = event.key?.text ?? ""
    let line = "\(event.kind) \(key) for \(event.listener.number)"
    switch event.kind {
    case .childRemoved: check(mirror.children.removeValue(forKey: key) == event.node, "wrong \(line)")
    case .childAdded: check(mirror.children.updateValue(event.node, forKey: key) == nil, "second \(line)")
    case .childChanged:
      let old = mirror.children.updateValue(event.node, forKey: key)
      check(old != nil && old != event.node, "needless \(line)")
    case .childMoved: check(mirror.children[key] != nil, "\(line) of a missing child")
    case .value:
      mirror.value = event.node
      mirror.isValueUnacknowledged = !event.isAcknowledged
    case .childAcknowledged:
      check(mirror.unacknowledged.remove(key) != nil, "needless \(line)")
      check(event.node == mirror.children[key] ?? .empty, "\(line) with another value")
    case .valueAcknowledged:
      check(mirror.isValueUnacknowledged && event.node == mirror.value, "needless \(line)")
      mirror.isValueUnacknowledged = false
    case .writeRejected, .cancelled: break
    }
    let path = mirror.path + (event.key.map { [$0.text] } ?? [])
    check(event.isAcknowledged == !touches(path), "\(line) says acknowledged: \(event.isAcknowledged)")
    switch event.kind {
    case .childRemoved, .childAdded, .childChanged:
      if event.isAcknowledged { mirror.unacknowledged.remove(key) } else { mirror.unacknowledged.insert(key) }
    case .childMoved, .value, .childAcknowledged, .valueAcknowledged, .writeRejected, .cancelled: break
    }
  }

  /// Every listener sees what the model computes, and nothing acknowledged is still thought pending.
  mutating func compare(_ events: [TreeEvent]) {
    let shown = shown
    for (id, mirror) in mirrors {
      let here = shown.at(mirror.path)
      let keys = here.keys(in: mirror.window)
      check(Set(mirror.children.keys) == Set(keys), "listener \(id) sees \(mirror.children.keys.sorted()), not \(keys)")
      for key in keys {
        check(mirror.children[key] == here.child(key).node, "listener \(id) sees another \(key)")
      }
      var value = here.node
      if !mirror.window.isUnbounded {
        value = keys.reduce(TreeNode.empty) { $0.setting(TreeKey(unchecked: $1), to: here.child($1).node) }
      }
      check(
        mirror.value == value,
        "listener \(id) has the value \(String(describing: mirror.value?.json())), not \(value.json())")
      for event in events where event.listener.number == id && event.kind != .childRemoved && event.key != nil {
        if event.node.isEmpty { continue }
        let index = keys.firstIndex(of: event.key?.text ?? "") ?? 0
        let previous = index == 0 ? nil : keys[index - 1]
        check(event.previousKey?.text == previous, "\(event.kind) \(event.key?.text ?? "") for \(id): previous key")
      }
      check(
        mirror.unacknowledged.allSatisfy { touches(mirror.path + [$0]) }, "listener \(id): a missing acknowledgement")
      check(!mirror.isValueUnacknowledged || touches(mirror.path), "listener \(id): a missing value acknowledgement")
    }
  }

  mutating func addListener() -> TreeEngine.Outcome {
    let (path, window) = (chance.path(2), chance.window())
    log.append("listen \(nextID) at \(path) \(window)")
    mirrors[nextID] = Mirror(path: path, window: window)
    let outcome = engine.listen(at: Self.path(path), window, as: ListenerID(nextID))
    nextID += 1
    return outcome
  }

  mutating func write() -> TreeEngine.Outcome {
    let path = chance.path(3)
    let id = nextID
    nextID += 1
    guard chance.below(3) == 0, path.count < 3 else {
      let value = NaiveTree.random(&chance, depth: 3 - path.count)
      log.append("set \(id) \(path) \(value.node.json())")
      pending.append(Write(id: id, path: path, parts: [([], value)]))
      return engine.overwrite(Self.path(path), with: value.node, id: id)
    }
    var parts: [([String], NaiveTree)] = []
    for _ in 0...chance.below(3) {
      let part = [chance.key()] + (chance.below(3) == 0 ? [chance.key()] : [])
      if parts.contains(where: { $0.0.starts(with: part) || part.starts(with: $0.0) }) { continue }
      parts.append((part, .random(&chance, depth: 1)))
    }
    log.append("update \(id) \(path) \(parts.map { "\($0.0): \($0.1.node.json())" })")
    pending.append(Write(id: id, path: path, parts: parts))
    return engine.merge(
      Self.path(path), parts.map { TreeWrite(path: Self.path($0.0), node: $0.1.node) }, id: id)
  }
}

@Suite struct EngineModelTests {
  @Test(arguments: 0..<20)
  func `covered listeners of any windows see exactly what a naive model computes, at every step`(seed: Int) {
    var model = EngineModel(seed: UInt64(seed) &* 7_919 &+ 1)
    model.mirrors[0] = .init(path: [], window: .all)
    model.take(model.engine.listen(at: .root, .all, as: ListenerID(0)), isComparing: false)
    model.server = .random(&model.chance, depth: 3)
    model.take(model.engine.serverOverwrite(.root, with: model.server.node))
    for _ in 0..<80 {
      switch model.chance.below(10) {
      case 0, 1: model.take(model.addListener())
      case 2:
        guard let id = model.mirrors.keys.sorted().dropFirst().first, let mirror = model.mirrors[id] else { continue }
        model.log.append("unlisten \(id)")
        model.mirrors[id] = nil
        model.take(model.engine.unlisten(ListenerID(id), at: EngineModel.path(mirror.path), mirror.window))
      case 3, 4, 5: model.take(model.write())
      case 6: serverWrites(&model)
      default: answer(&model)
      }
    }
    while !model.pending.isEmpty { answer(&model) }
  }

  /// Another client's write reaches this one.
  private func serverWrites(_ model: inout EngineModel) {
    let path = model.chance.path(3)
    if model.chance.below(2) == 0 {
      let value = NaiveTree.random(&model.chance, depth: 3 - path.count)
      model.log.append("server \(path) \(value.node.json())")
      model.server = model.server.setting(path, value)
      model.take(model.engine.serverOverwrite(EngineModel.path(path), with: model.server.at(path).node))
    } else {
      var parts: [TreeWrite] = []
      for key in ["1", "a", "b"] where model.chance.below(2) == 0 {
        let value = NaiveTree.random(&model.chance, depth: 2)
        model.server = model.server.setting(path + [key], value)
        parts.append(TreeWrite(path: EngineModel.path([key]), node: value.node))
      }
      model.log.append("server merge \(path) \(parts.map { "\($0.path): \($0.node.json())" })")
      model.take(model.engine.serverMerge(EngineModel.path(path), parts))
    }
  }

  /// The server answers the oldest write: its values first, then the acknowledgement or the rejection.
  private func answer(_ model: inout EngineModel) {
    guard let write = model.pending.first else { return }
    let path = EngineModel.path(write.path)
    let isAccepted = model.chance.below(4) > 0
    if isAccepted {
      // A server value can differ from the client's estimate.
      var parts = write.parts
      if model.chance.below(4) == 0, !parts.isEmpty { parts[0].1 = .leaf(model.chance.below(4)) }
      for part in parts { model.server = model.server.setting(write.path + part.0, part.1) }
      model.log.append("server sends \(write.id) \(parts.map { "\($0.0): \($0.1.node.json())" })")
      if parts.count == 1, parts[0].0.isEmpty {
        model.take(model.engine.serverOverwrite(path, with: parts[0].1.node))
      } else {
        let writes = parts.map { TreeWrite(path: EngineModel.path($0.0), node: $0.1.node) }
        model.take(model.engine.serverMerge(path, writes))
      }
    }
    model.pending.removeFirst()
    model.log.append("\(isAccepted ? "ack" : "reject") \(write.id)")
    model.take(isAccepted ? model.engine.acknowledge(write.id) : model.engine.reject(write.id))
  }
}
