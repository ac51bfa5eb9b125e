extension TreeEngine {
  /// Adds a listener. The outcome holds its first events (as far as values are known) and the requests that are needed:
  /// none when a listener at or above the node covers it.
  package mutating func listen(at path: TreePath, _ window: Window = .all, as id: ListenerID) -> Outcome {
    var outcome = Outcome()
    let query = QueryID(path: path, window: window)
    let isCovered = tree.isCovered(path)
    let known = tree.knownServerNode(at: path)
    let server = known ?? partialServerNode(at: path)
    let writes = writes
    let isNew = tree.change(path) { tree in
      let existing = tree.index(of: window)
      if existing == nil {
        tree.views.append(
          View(path: path, window: window, server: server, isComplete: known != nil, writes: writes))
      }
      tree.views[existing ?? tree.views.count - 1].add(id, writes: writes, &outcome.events)
      return existing == nil
    }
    guard isNew else { return outcome }
    if !window.isUnbounded { giveTag(to: query) }
    if !isCovered { outcome.requests = requestsToListen(query) }
    return outcome
  }

  /// The children of `path` that listeners below it know wholly.
  private func partialServerNode(at path: TreePath) -> TreeNode {
    var node = TreeNode.empty
    for (key, child) in tree.subtree(at: path)?.children ?? [:] {
      if let known = child.completeServerNode(at: .root) { node = node.setting(key, to: known) }
    }
    return node
  }

  /// A new listener at the server, and the end of those it covers.
  private func requestsToListen(_ query: QueryID) -> [Request] {
    let tag = tags[query]
    var requests = [Request.listen(query.path, asked(query.window), tag: tag)]
    guard tag == nil, let subtree = tree.subtree(at: query.path) else { return requests }
    var covered: [(path: TreePath, window: Window)] = subtree.views.filter { !$0.window.isUnbounded }
      .map { (query.path, $0.window) }
    for key in subtree.children.keys.sorted() {
      subtree.children[key]?.listened(at: query.path.child(key), into: &covered)
    }
    for (path, window) in covered {
      requests.append(.unlisten(path, window, tag: tags[QueryID(path: path, window: window)]))
    }
    return requests
  }

  /// What the server is asked for: the order of a whole node does not matter to it.
  private func asked(_ window: Window) -> Window { window.isUnbounded ? .all : window }

  /// Removes a listener.
  ///
  /// - Parameter window: nil removes it from every window at the node.
  package mutating func unlisten(_ id: ListenerID, at path: TreePath, _ window: Window? = nil) -> Outcome {
    remove(at: path, window, reason: nil) { $0 == id }
  }

  /// The server has ended a listener: its views are removed, and their listeners get a last event.
  package mutating func cancel(at path: TreePath, _ window: Window = .all, reason: String) -> Outcome {
    let windows =
      window.isUnbounded
      ? tree.subtree(at: path)?.views.map(\.window).filter(\.isUnbounded) ?? [] : [window]
    var outcome = Outcome()
    for window in windows {
      let part = remove(at: path, window, reason: reason) { _ in true }
      outcome.events += part.events
      outcome.requests += part.requests
    }
    return outcome
  }

  /// The window that a tag in a server's message names.
  package func query(tag: Int) -> (path: TreePath, window: Window)? {
    queries[tag].map { ($0.path, $0.window) }
  }

  /// The tag under which the server names a window's listener; nil for a whole node.
  package func tag(of path: TreePath, _ window: Window) -> Int? { tags[QueryID(path: path, window: window)] }

  private mutating func remove(
    at path: TreePath, _ window: Window?, reason: String?, where isRemoved: (ListenerID) -> Bool
  ) -> Outcome {
    var outcome = Outcome()
    let hadUnbounded = tree.subtree(at: path)?.hasUnbounded ?? false
    var removed: [Window] = []
    tree.change(path) { tree in
      for index in tree.views.indices where window == nil || tree.views[index].window == window {
        let leaving = tree.views[index].registrations.filter { isRemoved($0.id) }
        tree.views[index].registrations.removeAll { isRemoved($0.id) }
        if let reason { outcome.events += leaving.map { Self.cancelled($0.id, path, reason) } }
      }
      removed = tree.views.filter(\.registrations.isEmpty).map(\.window)
      tree.views.removeAll(where: \.registrations.isEmpty)
    }
    let isUncovered = hadUnbounded && !(tree.subtree(at: path)?.hasUnbounded ?? false)
    outcome.requests = requestsAfterRemoval(
      at: path, windows: removed.filter { !$0.isUnbounded }, isUncovered: isUncovered, isCancelled: reason != nil)
    for window in removed { removeTag(of: QueryID(path: path, window: window)) }
    return outcome
  }

  private static func cancelled(_ id: ListenerID, _ path: TreePath, _ reason: String) -> TreeEvent {
    TreeEvent(
      listener: id, kind: .cancelled, path: path, key: nil, node: .empty, previousKey: nil, isAcknowledged: true,
      reason: reason)
  }

  /// What the removed views covered needs listeners of its own again.
  private func requestsAfterRemoval(
    at path: TreePath, windows: [Window], isUncovered: Bool, isCancelled: Bool
  ) -> [Request] {
    guard !tree.isCovered(path) else { return [] }
    var requests: [Request] = []
    if isUncovered, let subtree = tree.subtree(at: path) {
      var remaining: [(path: TreePath, window: Window)] = []
      subtree.listened(at: path, into: &remaining)
      for (path, window) in remaining {
        requests.append(.listen(path, window, tag: tags[QueryID(path: path, window: window)]))
      }
    }
    if isCancelled { return requests }
    if isUncovered { return requests + [.unlisten(path, .all, tag: nil)] }
    for window in windows {
      requests.append(.unlisten(path, window, tag: tags[QueryID(path: path, window: window)]))
    }
    return requests
  }
}
