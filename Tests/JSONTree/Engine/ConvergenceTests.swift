import MartletVocabulary
import Testing

@testable import MartletJSONTree

/// Several clients and one server, whose messages arrive in order on each connection and at random times: the server
/// finds listeners by path, keeps windows without their values and sends what changed.
struct TreeNetwork {
  enum FromServer {
    case overwrite(TreePath, TreeNode, tag: Int?)
    case merge(TreePath, [TreeWrite], tag: Int?)
    /// The server's tree at the change is what a client cannot see, and what its events are compared with.
    case watched(TreePath, [TreePath], revision: String, tree: TreeNode, isFirst: Bool)
    case answer(Int64, revision: String?)
  }

  enum FromClient {
    case request(TreeEngine.Request)
    case write(Int64, [TreeWrite], isSet: Bool)
  }

  struct Client {
    var model: EngineModel
    var toServer: [FromClient] = []
    var toClient: [FromServer] = []
    /// Answers that the server has not sent: what others write meanwhile comes before them, as in one group commit.
    var answers: [FromServer] = []
    var watched: [Int64: Watched] = [:]
    /// The watches that the server has not answered: until it has, what comes may be of an earlier one of the node.
    var awaited: [TreePath: Int] = [:]
  }

  /// A listener without values.
  struct Watched {
    var path: TreePath
    /// The value of the node at the last change that was received; nil before the first one.
    var node: TreeNode?
    var isUnacknowledged = false
  }

  struct Listener: Hashable {
    var client: Int
    var path: TreePath
    var window: Window
    var tag: Int?
  }

  var chance: SeededRandom
  var clients: [Client]
  var tree = TreeNode.empty
  var index = ListenerIndex<Listener>()
  var windows: [Listener: ServedWindow] = [:]
  var watches = ListenerIndex<Watching>()
  var revision = 0

  struct Watching: Hashable {
    var client: Int
    var path: TreePath
  }

  init(seed: UInt64, clients: Int) {
    chance = SeededRandom(seed: seed)
    self.clients = (0..<clients).map { Client(model: EngineModel(seed: seed &* 31 &+ UInt64($0))) }
    tree = NaiveTree.random(&chance, depth: 3).node
  }

  mutating func take(_ client: Int, _ outcome: TreeEngine.Outcome) {
    clients[client].toServer += outcome.requests.map { .request($0) }
    for case .watch(let path) in outcome.requests { clients[client].awaited[path, default: 0] += 1 }
    var valued = outcome
    valued.events.removeAll { clients[client].watched[$0.listener.number] != nil }
    clients[client].model.take(valued, isComparing: false)
    for event in outcome.events { take(event, client) }
  }

  /// An event of a listener without values.
  private mutating func take(_ event: TreeEvent, _ client: Int) {
    guard var watched = clients[client].watched[event.listener.number] else { return }
    let isTouched = clients[client].model.engine.writes.touches(watched.path)
    check(client, event.isAcknowledged == !isTouched, "\(event.kind) of \(watched.path): \(event.isAcknowledged)")
    switch event.kind {
    case .value: watched.isUnacknowledged = !event.isAcknowledged
    case .valueAcknowledged:
      check(client, watched.isUnacknowledged, "a needless acknowledgement of \(watched.path)")
      watched.isUnacknowledged = false
    default: break
    }
    clients[client].watched[event.listener.number] = watched
  }

  private mutating func check(_ client: Int, _ condition: Bool, _ text: String) {
    clients[client].model.check(condition, "client \(client), \(text)")
  }

  /// What the client would see of its watched nodes, with its writes: nil where it knows nothing.
  private func seen(_ client: Int) -> [Int64: TreeNode] {
    let writes = clients[client].model.engine.writes
    return clients[client].watched.compactMapValues { watched in
      watched.node.map { writes.applyAll(to: $0, at: watched.path) } ?? writes.complete(at: watched.path)
    }
  }

  /// Takes an outcome; every watched node whose value is another one than before has an event for it.
  private mutating func take(_ client: Int, _ outcome: TreeEngine.Outcome, before: [Int64: TreeNode]) {
    let after = seen(client)
    for (id, node) in after where node != before[id] && clients[client].watched[id] != nil {
      let isReported = outcome.events.contains { $0.listener.number == id && $0.kind == .value }
      check(client, isReported, "a change of \(clients[client].watched[id]?.path ?? .root) is missing")
    }
    take(client, outcome)
  }

  private mutating func watch(_ client: Int) {
    let id = clients[client].model.nextID
    clients[client].model.nextID += 1
    let path = EngineModel.path(clients[client].model.chance.path(2))
    clients[client].model.log.append("watch \(id) at \(path)")
    let node = clients[client].watched.values.first { $0.path == path }?.node
    let before = seen(client)
    clients[client].watched[id] = Watched(path: path, node: node)
    take(client, clients[client].model.engine.watch(path, as: ListenerID(id)), before: before)
  }

  private mutating func unwatch(_ client: Int) {
    guard let (id, watched) = clients[client].watched.min(by: { $0.key < $1.key }) else { return }
    clients[client].model.log.append("unwatch \(id)")
    clients[client].watched[id] = nil
    take(client, clients[client].model.engine.unwatch(ListenerID(id), at: watched.path))
  }

  mutating func act(_ client: Int) {
    switch chance.below(8) {
    case 6: watch(client)
    case 7: if chance.below(2) == 0 { unwatch(client) }
    case 0: take(client, clients[client].model.addListener())
    case 1:
      let mirrors = clients[client].model.mirrors
      guard let id = mirrors.keys.sorted().first, let mirror = mirrors[id] else { return }
      clients[client].model.log.append("unlisten \(id)")
      clients[client].model.mirrors[id] = nil
      let path = EngineModel.path(mirror.path)
      take(client, clients[client].model.engine.unlisten(ListenerID(id), at: path, mirror.window))
    default:
      let before = seen(client)
      let outcome = clients[client].model.write()
      guard let write = clients[client].model.pending.last else { return }
      let parts = write.parts.map { TreeWrite(path: EngineModel.path(write.path + $0.0), node: $0.1.node) }
      let isSet = write.parts.count == 1 && write.parts[0].0.isEmpty
      clients[client].toServer.append(.write(write.id, parts, isSet: isSet))
      take(client, outcome, before: before)
    }
  }

  /// Delivers one message; false when the client has none in either direction.
  mutating func deliver(_ client: Int) -> Bool {
    let isIdle = clients[client].toServer.isEmpty && clients[client].toClient.isEmpty
    if !clients[client].answers.isEmpty, isIdle || chance.below(3) == 0 {
      clients[client].toClient.append(clients[client].answers.removeFirst())
    }
    let isUp = chance.below(2) == 0
    if isUp || clients[client].toClient.isEmpty, !clients[client].toServer.isEmpty {
      serve(client, clients[client].toServer.removeFirst())
      return true
    }
    guard !clients[client].toClient.isEmpty else { return false }
    let message = clients[client].toClient.removeFirst()
    clients[client].model.log.append("receive \(message)")
    switch message {
    case .overwrite(let path, let node, let tag?):
      take(client, clients[client].model.engine.serverOverwrite(path, with: node, tag: tag))
    case .overwrite(let path, let node, nil):
      take(client, clients[client].model.engine.serverOverwrite(path, with: node))
    case .merge(let path, let parts, let tag?):
      take(client, clients[client].model.engine.serverMerge(path, parts, tag: tag))
    case .merge(let path, let parts, nil):
      take(client, clients[client].model.engine.serverMerge(path, parts))
    case .watched(let path, let places, let revision, let tree, let isFirst):
      let before = seen(client)
      if isFirst { clients[client].awaited[path, default: 0] -= 1 }
      let isAwaited = clients[client].awaited[path, default: 0] > 0
      for (id, watched) in clients[client].watched where watched.path == path && !isAwaited {
        clients[client].watched[id]?.node = tree.node(at: path)
      }
      let outcome = clients[client].model.engine.watchedChanged(path, places: places, revision: revision)
      take(client, outcome, before: before)
    case .answer(let id, let revision):
      let before = seen(client)
      clients[client].model.pending.removeAll { $0.id == id }
      let outcome =
        revision.map { clients[client].model.engine.acknowledge(id, revision: $0) }
        ?? clients[client].model.engine.reject(id)
      take(client, outcome, before: before)
    }
    return true
  }

  private mutating func serve(_ client: Int, _ message: FromClient) {
    switch message {
    case .request(.listen(let path, let window, let tag)):
      let listener = Listener(client: client, path: path, window: window, tag: tag)
      index.insert(listener, at: path)
      sendAll(listener)
    case .request(.watch(let path)):
      watches.insert(Watching(client: client, path: path), at: path)
      clients[client].toClient.append(.watched(path, [], revision: "f-\(revision)", tree: tree, isFirst: true))
    case .request(.unwatch(let path)): watches.remove(Watching(client: client, path: path), at: path)
    case .request(.unlisten(let path, let window, let tag)):
      let listener = Listener(client: client, path: path, window: window, tag: tag)
      #expect(index.contains(listener, at: path))
      index.remove(listener, at: path)
      windows[listener] = nil
    case .write(let id, let parts, _):
      let isAccepted = chance.below(4) > 0
      for part in isAccepted ? parts : [] {
        tree = tree.setting(part.path, to: part.node)
        notify(part.path)
      }
      if isAccepted {
        revision += 1
        notifyWatches(parts)
      }
      clients[client].answers.append(.answer(id, revision: isAccepted ? "f-\(revision)" : nil))
    }
  }

  /// One message for each watch that a write concerns.
  private mutating func notifyWatches(_ parts: [TreeWrite]) {
    var found: [Watching: [TreePath]] = [:]
    for part in parts {
      watches.forEach(concernedBy: part.path) { watching, relation in
        if case .below(let relative) = relation {
          found[watching, default: []].append(relative)
        } else {
          found[watching, default: []].append(.root)
        }
      }
    }
    for (watching, places) in found {
      let message = FromServer.watched(
        watching.path, places.contains(.root) ? [] : places, revision: "f-\(revision)", tree: tree,
        isFirst: false)
      clients[watching.client].toClient.append(message)
    }
  }

  /// The whole value of a listener, or its whole window.
  private mutating func sendAll(_ listener: Listener) {
    let node = tree.node(at: listener.path)
    let window = listener.window
    let part = OrderedChildren(node, order: window.order).node(in: window)
    if !window.isUnbounded {
      windows[listener] = ServedWindow(
        window, children: part.children.entries.map { window.order.position(of: $0.key, $0.value) })
    }
    clients[listener.client].toClient.append(.overwrite(listener.path, part, tag: listener.tag))
  }

  private mutating func notify(_ path: TreePath) {
    var found: [(Listener, ListenerIndex<Listener>.Relation)] = []
    index.forEach(concernedBy: path) { found.append(($0, $1)) }
    for (listener, relation) in found {
      guard case .below(let relative) = relation, let key = relative.first else {
        sendAll(listener)
        continue
      }
      if listener.window.isUnbounded {
        clients[listener.client].toClient.append(.overwrite(path, tree.node(at: path), tag: nil))
      } else {
        update(listener, key, relative)
      }
    }
  }

  private mutating func update(_ listener: Listener, _ key: TreeKey, _ relative: TreePath) {
    let order = listener.window.order
    let children = OrderedChildren(tree.node(at: listener.path), order: order)
    let child = children.node.child(key)
    let change = ServedWindow.Change(key, child.isEmpty ? nil : order.value(of: child))
    let isReversed = listener.window.isFilledFromEnd
    let update = windows[listener]?.apply([change]) { position in
      children.neighbour(of: position, reversed: isReversed).map { order.position(of: $0.key, $0.node) }
    }
    guard let update, !update.isEmpty else { return }
    var parts = update.left.map { TreeWrite(path: [$0], node: .empty) }
    parts += update.entered.map { TreeWrite(path: [$0], node: children.node.child($0)) }
    if !update.changed.isEmpty {
      parts.append(TreeWrite(path: relative, node: children.node.node(at: relative)))
    }
    clients[listener.client].toClient.append(.merge(listener.path, parts, tag: listener.tag))
  }

  /// Every listener sees the server's value.
  mutating func compare() {
    for client in clients.indices {
      for (id, mirror) in clients[client].model.mirrors {
        let node = tree.node(at: EngineModel.path(mirror.path))
        let part = OrderedChildren(node, order: mirror.window.order).node(in: mirror.window)
        clients[client].model.check(
          mirror.value == part.withPriority(nil),
          "client \(client), listener \(id) \(mirror.path) \(mirror.window): \(String(describing: mirror.value?.json())) and not \(part.json())"
        )
        clients[client].model.check(
          mirror.children == Self.children(part), "client \(client), listener \(id): children")
        clients[client].model.check(
          mirror.unacknowledged.isEmpty && !mirror.isValueUnacknowledged, "client \(client), listener \(id): pending")
      }
      for watched in clients[client].watched.values {
        check(client, watched.node == tree.node(at: watched.path), "the watch of \(watched.path) ended early")
        check(client, !watched.isUnacknowledged, "the watch of \(watched.path): pending")
      }
      clients[client].model.check(clients[client].model.engine.writes.all.isEmpty, "client \(client) has writes")
    }
  }

  private static func children(_ node: TreeNode) -> [String: TreeNode] {
    Dictionary(uniqueKeysWithValues: node.children.entries.map { ($0.key.text, $0.value) })
  }
}

extension ListenerIndex {
  func contains(_ id: ID, at path: TreePath) -> Bool {
    var found = false
    forEach(concernedBy: path) { other, relation in found = found || (other == id && relation == .covering(.root)) }
    return found
  }
}

@Suite struct ConvergenceTests {
  @Test(arguments: 0..<60)
  func `clients with any listeners converge to the server's tree, miss no change, and get no event out of order`(
    seed: Int
  ) {
    var network = TreeNetwork(seed: UInt64(seed) &+ 11, clients: 2)
    for _ in 0..<120 {
      let client = network.chance.below(2)
      if network.chance.below(3) == 0 { network.act(client) } else { _ = network.deliver(client) }
    }
    var isBusy = true
    while isBusy {
      isBusy = false
      for client in network.clients.indices where network.deliver(client) { isBusy = true }
    }
    network.compare()
  }
}
