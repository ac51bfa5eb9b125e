internal import MartletChangeFeed
internal import MartletJSONTree
internal import MartletRuntime
internal import MartletStore
internal import MartletTreeRules
internal import MartletVocabulary

/// Reads of one tree under its rules, for one loop. Confined to it.
final class TreeReads {
  private let store: Store
  private let policy: TreePolicy
  private let loop: any Loop
  private let destination: FeedDestination
  private let calendar: Calendar
  private let limits: ServerLimits.Tree
  /// The records of the models that the tree has below `/models`, by the schema in force; nil where there are none.
  let records: @Sendable () -> RecordTree?

  init(
    _ store: Store, _ policy: TreePolicy, on loop: any Loop, _ destination: FeedDestination, calendar: Calendar,
    limits: ServerLimits.Tree, records: @escaping @Sendable () -> RecordTree?
  ) {
    (self.store, self.policy, self.loop, self.destination) = (store, policy, loop, destination)
    (self.calendar, self.limits, self.records) = (calendar, limits, records)
  }

  /// What a read found, and the newest offset that it contains.
  struct Found: Sendable {
    var node: TreeNode
    var head: Int64
    /// What has changed since the client's revision, when all of it is known; the node is then left out of a read of a
    /// whole node.
    var changes: [TreeWrite]?
    /// Why the log does not say what has changed since the client's revision.
    var gap: String?
    /// Leaves that the node may have when it was left out, or has when its first part was read.
    var leaves = 0
    /// The path of the last row of a part that others follow.
    var last: TreePath?
  }

  /// Which part of a whole node's rows is read.
  struct Part: Sendable {
    /// The rows that follow this one's; the first ones without it.
    var after: TreePath?
    /// As many as take so many bytes.
    var bytes: Int
  }

  /// Reads a node, or a window of it, under the rules. `completion` runs on the loop.
  ///
  /// - Parameters:
  ///   - resumption: what the client has of it.
  ///   - isListening: whether the caller is to see changes as they happen.
  ///   - isWatching: whether the value of a node of the tree is left out, because the caller asks for changes alone.
  ///   - part: which part is read of a whole node of the tree.
  ///   - isShallow: whether the children of a whole node of the tree are read without what stands below them.
  func read(
    _ path: TreePath, _ window: Window, as caller: TreeCaller, resuming resumption: TreeResumption? = nil,
    isListening: Bool = false, isWatching: Bool = false, part: Part? = nil, isShallow: Bool = false,
    _ completion: @escaping (Result<Found, TreeRefusal>) -> Void
  ) {
    let (judge, most) = (question(path, window, caller), limits.nodeLeaves)
    if RecordTree.contains(path), let records = records() {
      return look(completion) { snapshot throws(StoreError) in
        if let refusal = try judge(snapshot) { return .failure(refusal) }
        let head = try snapshot.head()
        return try records.read(path, window, as: caller, isListening: isListening, in: snapshot, limit: most)
          .map { Found(node: $0, head: head) }
      }
    }
    let replay = resumption.map { TreeReplay($0, path, window, store.lineage, changes: limits.resumeChanges) }
    look(completion) { snapshot throws(StoreError) in
      if let refusal = try judge(snapshot) { return .failure(refusal) }
      let head = try snapshot.head()
      var (written, gap): (WriteTrie?, String?) = (nil, nil)
      switch try replay?.answer(in: snapshot, head: head) {
      case .written(let trie): written = trie
      case .gap(let reason): gap = reason
      case .replaced, nil: break
      }
      if let written, window.isUnbounded {
        // The node was not looked at: it counts as half full.
        return .success(Found(node: .empty, head: head, changes: written.writes, leaves: most / 2))
      }
      if isWatching { return .success(Found(node: .empty, head: head, gap: gap)) }
      if let part, window.isUnbounded {
        let (node, last) = try snapshot.tree.part(of: path, after: part.after, bytes: part.bytes)
        var found = Found(node: node, head: head, gap: gap, last: last)
        // The rows are counted once, with the first part.
        guard part.after == nil else { return .success(found) }
        found.leaves = last == nil ? node.rowCount : try snapshot.tree.count(at: path, most: most + 1)
        guard found.leaves <= most else {
          throw StoreError(.invalid, "the node \(path) has more than \(most) leaves")
        }
        return .success(found)
      }
      if isShallow { return .success(Found(node: try snapshot.tree.shallow(at: path, limit: most), head: head)) }
      let node = try snapshot.tree.node(at: path, in: window, limit: most)
      return .success(
        Found(node: node, head: head, changes: written.flatMap { replay?.changes(of: node, $0) }, gap: gap))
    }
  }

  /// Asks whether a caller may read a node, or a window of it, now; `completion` runs on the loop, with the refusal.
  func judge(
    _ path: TreePath, _ window: Window, as caller: TreeCaller, _ completion: @escaping (TreeRefusal?) -> Void
  ) {
    let judge = question(path, window, caller)
    let records = RecordTree.contains(path) ? self.records() : nil
    look({ (result: Result<TreeRefusal?, TreeRefusal>) in
      switch result {
      case .success(let refusal): completion(refusal)
      case .failure(let refusal): completion(refusal)
      }
    }) { snapshot throws(StoreError) in
      .success(try judge(snapshot) ?? records?.refusal(path, caller))
    }
  }

  /// The refusal that the rules in force give a caller that reads a node, or a window of it; nil when they allow it.
  private func question(
    _ path: TreePath, _ window: Window, _ caller: TreeCaller
  ) -> @Sendable (ReadSnapshot) throws(StoreError) -> TreeRefusal? {
    if caller.isAdministrator { return { _ in nil } }
    let (rules, now, query) = (policy.rules, calendar.sinceEpoch().milliseconds, window.isUnbounded ? nil : window)
    return { snapshot throws(StoreError) in
      let context = RuleContext(auth: caller.auth, now: now, query: query, data: StoredTree(tree: snapshot.tree))
      do {
        if case .denied(let denial) = try rules.read(at: path, context) { return .denied(denial) }
        return nil
      } catch {
        throw (error as? StoreError) ?? StoreError(.failed, "\(error)")
      }
    }
  }

  /// Runs a read of the store. `completion` runs on the loop.
  private func look<Value: Sendable>(
    _ completion: @escaping (Result<Value, TreeRefusal>) -> Void,
    _ body: @escaping @Sendable (ReadSnapshot) throws(StoreError) -> Result<Value, TreeRefusal>
  ) {
    let done = LoopBound(completion, on: loop)
    store.read(
      [ReadRequest(read: body) { result in done.value(result.mapError { .store($0) }.flatMap { $0 }) }],
      to: destination)
  }
}

extension Duration {
  var milliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }
}
