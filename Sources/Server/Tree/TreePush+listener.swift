internal import MartletJSON
internal import MartletJSONTree
internal import MartletTreeWire

extension TreePush {
  /// The changes of one transaction, below a listener's node.
  init(_ changes: [TreeWrite], of listener: TreeListener) {
    guard changes.count == 1, let change = changes.first else {
      self.init(merging: changes, of: listener)
      return
    }
    self = .overwrite(listener.path.appending(change.path), change.node.exportedJSON(), tag: listener.tag)
  }

  /// Several changes as one merge, unless the whole node is among them.
  init(merging changes: [TreeWrite], of listener: TreeListener) {
    if let whole = changes.lastIndex(where: { $0.path.isRoot }) {
      var node = changes[whole].node
      for change in changes[(whole + 1)...] { node = node.setting(change.path, to: change.node) }
      self = .overwrite(listener.path, node.exportedJSON(), tag: listener.tag)
      return
    }
    var object = JSONObject()
    for change in changes {
      object[change.path.keys.map(\.text).joined(separator: "/")] = change.node.exportedJSON()
    }
    self = .merge(listener.path, object, tag: listener.tag)
  }
}
