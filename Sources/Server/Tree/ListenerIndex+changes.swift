internal import MartletChangeFeed
internal import MartletJSONTree

extension ListenerIndex {
  /// The listeners that changes of one transaction concern, node by node, with what is written there.
  func concerned(by changes: [TreeChange]) -> [(ids: Members, writes: [TreeWrite])] {
    var concerned: [(ids: Members, writes: [TreeWrite])] = []
    var places: [TreePath: Int] = [:]
    for change in changes {
      let isPriority = change.path.key?.isPriority == true
      // The priority of a node concerns its listeners and those above.
      let path = isPriority ? change.path.parent ?? .root : change.path
      forEachNode(concernedBy: path) { ids, node, relation in
        let write: TreeWrite
        switch relation {
        case .below(let relative):
          write = TreeWrite(path: isPriority ? relative.child(.priority) : relative, node: change.node)
        case .covering(let below) where isPriority:
          // Of the node itself; nodes below it are not concerned.
          guard below.isRoot else { return }
          write = TreeWrite(path: [.priority], node: change.node)
        case .covering(let below): write = TreeWrite(path: .root, node: change.node.node(at: below))
        }
        if let place = places[node] {
          concerned[place].writes.append(write)
        } else {
          places[node] = concerned.count
          concerned.append((ids, [write]))
        }
      }
    }
    return concerned
  }
}
