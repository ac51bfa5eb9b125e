internal import MartletJSON
internal import MartletJSONTree
internal import MartletTreeWire

extension TreePush {
  /// The changes of one transaction, below a listener's node.
  ///
  /// - Parameter revision: of the transaction.
  init(_ changes: [TreeWrite], of listener: TreeListener, at revision: @autoclosure () -> String) {
    if listener.isWatch {
      self = .watched(listener.path, .changed(places: Self.places(changes), revision: revision()))
      return
    }
    guard changes.count == 1, let change = changes.first else {
      self.init(merging: changes, of: listener)
      return
    }
    self = .overwrite(listener.path.appending(change.path), change.node.exportedJSON(), tag: listener.tag)
  }

  /// The whole value of a listener's node, or the ranges of it that the client does not know: nil when there are none.
  /// Of a watch, that there is another value.
  ///
  /// - Parameter revision: of the value.
  init?(_ node: TreeNode, of listener: TreeListener, at revision: String, knowing ranges: CompoundHash?) {
    if listener.isWatch {
      self = .watched(listener.path, .changed(places: [], revision: revision))
    } else if listener.window.isUnbounded, let different = ranges?.differences(from: node) {
      guard !different.isEmpty else { return nil }
      let sent = different.map { Range(start: $0.start, end: $0.end, replacement: $0.replacement.exportedJSON()) }
      self = .rangeMerge(listener.path, sent, tag: listener.tag)
    } else {
      self = .overwrite(listener.path, node.exportedJSON(), tag: listener.tag)
    }
  }

  /// Changes that a listener is not shown.
  init(_ gap: Gap, of listener: TreeListener) {
    self = listener.isWatch ? .watched(listener.path, .gap(gap)) : .gap(listener.path, listener.window, gap)
  }

  /// The end of a listener.
  ///
  /// - Parameter isExplained: whether the client gets the reason.
  init(_ refusal: TreeRefusal, of listener: TreeListener, isExplained: Bool) {
    let reason = refusal.description
    self =
      listener.isWatch
      ? .watched(listener.path, .ended(reason: reason))
      : .cancelled(listener.path, listener.window, reason: isExplained ? reason : nil)
  }

  /// More places, or longer ones, are sent as a change of the whole node: a notice is to be short.
  private static let (mostPlaces, placesBytes) = (32, 512)

  /// Where changes have been made; none when there are too many to name them, or the node itself is among them.
  private static func places(_ changes: [TreeWrite]) -> [TreePath] {
    let bytes = changes.prefix(mostPlaces).reduce(0) { sum, change in
      sum + change.path.keys.reduce(0) { $0 + $1.text.utf8.count + 1 }
    }
    let isWhole = changes.count > mostPlaces || bytes > placesBytes || changes.contains { $0.path.isRoot }
    return isWhole ? [] : changes.map(\.path)
  }

  /// What was written since a client's revision, up to another one.
  init(resumed changes: [TreeWrite], of listener: TreeListener, to revision: String) {
    self =
      listener.isWatch
      ? TreePush(changes, of: listener, at: revision) : TreePush(merging: changes, of: listener)
  }

  /// Several changes as one merge, unless the whole node is among them.
  private init(merging changes: [TreeWrite], of listener: TreeListener) {
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
