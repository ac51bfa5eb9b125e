import MartletVocabulary
import Testing

@testable import MartletJSONTree

/// Several clients and one server, whose messages arrive in order on each connection and at random times: the server
/// finds listeners by path, keeps windows without their values and sends what changed.
struct TreeNetwork {
  enum FromServer {
    case overwrite(TreePath, TreeNode, tag: Int?)
    case merge(TreePath, [TreeWrite], tag: Int?)
    case answer(Int64, isAccepted: Bool)
  }

  enum FromClient {
    case request(TreeEngine.Request)
    case write(Int64, [TreeWrite], isSet: Bool)
  }

  struct Client {
    var model: EngineModel
    var toServer: [FromClient] = []
    var toClient: [FromServer] = []
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

  init(seed: UInt64, clients: Int) {
    chance = SeededRandom(seed: seed)
    self.clients = (0..<clients).map { Client(model: EngineModel(seed: seed &* 31 &+ UInt64($0))) }
    tree = NaiveTree.random(&chance, depth: 3).node
  }

  mutating func take(_ client: Int, _ outcome: TreeEngine.Outcome) {
    clients[client].toServer += outcome.requests.map { .request($0) }
    clients[client].model.take(outcome, isComparing: false)
  }

  mutating func act(_ client: Int) {
    switch chance.below(6) {
    case 0: take(client, clients[client].model.addListener())
    case 1:
      let mirrors = clients[client].model.mirrors
      guard let id = mirrors.keys.sorted().first, let mirror = mirrors[id] else { return }
      clients[client].model.log.append("unlisten \(id)")
      clients[client].model.mirrors[id] = nil
      let path = EngineModel.path(mirror.path)
      take(client, clients[client].model.engine.unlisten(ListenerID(id), at: path, mirror.window))
    default:
      let outcome = clients[client].model.write()
      guard let write = clients[client].model.pending.last else { return }
      let parts = write.parts.map { TreeWrite(path: EngineModel.path(write.path + $0.0), node: $0.1.node) }
      let isSet = write.parts.count == 1 && write.parts[0].0.isEmpty
      clients[client].toServer.append(.write(write.id, parts, isSet: isSet))
      take(client, outcome)
    }
  }

  /// Delivers one message; false when the client has none in either direction.
  mutating func deliver(_ client: Int) -> Bool {
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
    case .answer(let id, let isAccepted):
      clients[client].model.pending.removeAll { $0.id == id }
      take(client, isAccepted ? clients[client].model.engine.acknowledge(id) : clients[client].model.engine.reject(id))
    }
    return true
  }

  private mutating func serve(_ client: Int, _ message: FromClient) {
    switch message {
    case .request(.listen(let path, let window, let tag)):
      let listener = Listener(client: client, path: path, window: window, tag: tag)
      index.insert(listener, at: path)
      sendAll(listener)
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
      clients[client].toClient.append(.answer(id, isAccepted: isAccepted))
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
  func `clients with any listeners converge to the server's tree, and get no event out of order`(seed: Int) {
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
