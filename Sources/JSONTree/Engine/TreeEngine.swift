/// The client's side of the synced tree: listeners with windows, the server's values, and the writes the server has not
/// answered. Changes go in, events and requests to the server come out.
///
/// ```swift
/// var engine = TreeEngine()
/// let listened = engine.listen(at: path, Window(limit: .last(50)), as: ListenerID(1))
/// let shown = engine.overwrite(path.child("a"), with: node, id: 1)       // events before the server answers
/// let settled = engine.acknowledge(1)
/// ```
package struct TreeEngine: Sendable {
  /// What the server is to be asked for.
  package enum Request: Hashable, Sendable {
    /// - Parameter tag: names a window's listener in the server's messages; nil for a whole node.
    case listen(TreePath, Window, tag: Int?)
    case unlisten(TreePath, Window, tag: Int?)
    /// Send a node's changes without its values.
    case watch(TreePath)
    case unwatch(TreePath)
  }

  /// What follows from one call.
  package struct Outcome: Sendable {
    package var events: [TreeEvent] = []
    package var requests: [Request] = []

    package init() {}
  }

  struct QueryID: Hashable, Sendable {
    var path: TreePath
    var window: Window
  }

  var tree = ListenTree()
  var watches = Watches()
  package private(set) var writes = PendingWrites()
  var tags: [QueryID: Int] = [:]
  var queries: [Int: QueryID] = [:]
  private var nextTag = 1

  package init() {}

  mutating func giveTag(to query: QueryID) {
    guard tags[query] == nil else { return }
    tags[query] = nextTag
    queries[nextTag] = query
    nextTag += 1
  }

  mutating func removeTag(of query: QueryID) {
    if let tag = tags.removeValue(forKey: query) { queries[tag] = nil }
  }

  // MARK: - Writes of this client

  /// Replaces the value at `path` until the server answers.
  ///
  /// - Parameters:
  ///   - id: greater than that of every earlier write.
  ///   - isVisible: false keeps it out of events, for a transaction that waits.
  package mutating func overwrite(
    _ path: TreePath, with node: TreeNode, id: Int64, isVisible: Bool = true
  ) -> Outcome {
    writes.add(PendingTreeWrite(id: id, path: path, content: .overwrite(node), isVisible: isVisible))
    guard isVisible else { return Outcome() }
    var outcome = apply(.overwrite(node), at: path, from: .user)
    watches.written([path], writes, &outcome.events)
    return outcome
  }

  /// Replaces the values at several paths below `path` until the server answers, as one write.
  package mutating func merge(_ path: TreePath, _ parts: [TreeWrite], id: Int64) -> Outcome {
    let write = PendingTreeWrite(id: id, path: path, content: .merge(parts), isVisible: true)
    writes.add(write)
    var outcome = apply(.merge(WriteTrie(parts)), at: path, from: .user)
    watches.written(write.paths, writes, &outcome.events)
    return outcome
  }

  /// The server has confirmed a write, and sent its values before.
  ///
  /// - Parameter revision: of the write.
  package mutating func acknowledge(_ id: Int64, revision: String? = nil) -> Outcome {
    settle(id, revision, isReverted: false)
  }

  /// The server has refused a write: it is taken back.
  ///
  /// - Parameter reason: what the server says, such as the rule that refused. With one, every listener that the write
  ///   concerns gets a last event that names the write; without one, only the events that take it back.
  package mutating func reject(_ id: Int64, reason: String? = nil) -> Outcome {
    let paths = writes.write(id)?.paths ?? []
    var outcome = settle(id, nil, isReverted: true)
    guard let reason else { return outcome }
    var reported: Set<ListenerID> = []
    for path in paths {
      tree.forEachListener(concernedBy: path) { listener, node in
        guard reported.insert(listener).inserted else { return }
        outcome.events.append(
          TreeEvent(
            listener: listener, kind: .writeRejected, path: node, key: nil, node: .empty, previousKey: nil,
            isAcknowledged: true, reason: reason, writeID: id))
      }
    }
    for path in watches.concerned(by: paths) {
      for registration in watches.all[path]?.registrations ?? [] {
        outcome.events.append(
          TreeEvent(
            listener: registration.id, kind: .writeRejected, ofNode: path, isAcknowledged: true, reason: reason,
            writeID: id))
      }
    }
    return outcome
  }

  private mutating func settle(_ id: Int64, _ revision: String?, isReverted: Bool) -> Outcome {
    guard let write = writes.write(id) else { return Outcome() }
    let hadEffect = writes.remove(id)
    var outcome = Outcome()
    if hadEffect {
      let marks: WriteTrie
      switch write.content {
      case .overwrite: marks = WriteTrie(.empty)
      case .merge(let parts): marks = WriteTrie(parts.map { TreeWrite(path: $0.path, node: .empty) })
      }
      outcome = apply(.acknowledge(marks, isReverted: isReverted), at: write.path, from: .user)
    }
    if !isReverted {
      watches.acknowledged(write.paths, revision, writes, &outcome.events)
    } else if hadEffect {
      watches.reverted(write.paths, writes, &outcome.events)
    }
    return outcome
  }

  // MARK: - Values of the server

  /// The server's value at `path`.
  package mutating func serverOverwrite(_ path: TreePath, with node: TreeNode) -> Outcome {
    apply(.overwrite(node), at: path, from: .server)
  }

  /// The server's values at several paths below `path`.
  package mutating func serverMerge(_ path: TreePath, _ parts: [TreeWrite]) -> Outcome {
    apply(.merge(WriteTrie(parts)), at: path, from: .server)
  }

  /// The server's value at `path`, for the listener of one window. A tag that is gone is ignored.
  package mutating func serverOverwrite(_ path: TreePath, with node: TreeNode, tag: Int) -> Outcome {
    apply(.overwrite(node), at: path, tag: tag)
  }

  /// The server's values below `path`, for the listener of one window.
  package mutating func serverMerge(_ path: TreePath, _ parts: [TreeWrite], tag: Int) -> Outcome {
    apply(.merge(WriteTrie(parts)), at: path, tag: tag)
  }

  /// The server's values in ranges of the leaves of `path`, of which a listener knows the whole value. Ignored when no
  /// listener does any longer.
  package mutating func serverReplace(_ path: TreePath, _ ranges: [LeafRange]) -> Outcome {
    guard let known = tree.knownServerNode(at: path) else { return Outcome() }
    return serverOverwrite(path, with: known.replacing(ranges))
  }

  /// The server has sent all of `path`, or of one window there.
  package mutating func listenCompleted(_ path: TreePath, tag: Int? = nil) -> Outcome {
    tag.map { apply(.complete, at: path, tag: $0) } ?? apply(.complete, at: path, from: .server)
  }

  private mutating func apply(
    _ kind: TreeOperation.Kind, at path: TreePath, from source: TreeOperation.Source
  ) -> Outcome {
    var outcome = Outcome()
    let operation = TreeOperation(kind: kind, path: path, source: source)
    tree.apply(operation, known: nil, writes: writes, &outcome.events)
    return outcome
  }

  private mutating func apply(_ kind: TreeOperation.Kind, at path: TreePath, tag: Int) -> Outcome {
    var outcome = Outcome()
    guard let query = queries[tag], let relative = path.relative(to: query.path) else { return outcome }
    let operation = TreeOperation(kind: kind, path: relative, source: .window)
    let writes = writes
    outcome.events = tree.change(query.path) { tree in
      var events: [TreeEvent] = []
      if let index = tree.index(of: query.window) {
        tree.views[index].apply(operation, writes: writes, known: nil, &events)
      }
      return events
    }
    return outcome
  }

  // MARK: - Reading

  /// The value at `path` as listeners would see it: nil when part of it is unknown.
  package func value(at path: TreePath) -> TreeNode? {
    LocalWrites(all: writes, path: path).value(over: tree.knownServerNode(at: path))
  }

  /// The server's value at `path`; nil when part of it is unknown.
  package func serverValue(at path: TreePath) -> TreeNode? { tree.knownServerNode(at: path) }
}

extension TreeEngine {
  /// What is known of the value at `path` under the visible writes; what is not known is left out.
  ///
  /// - Parameter base: the server's value where no listener knows it.
  package func knownValue(at path: TreePath, over base: TreeNode = .empty) -> TreeNode {
    writes.writes(at: path).apply(to: tree.knownServerNode(at: path) ?? base)
  }

  /// The server's value of a query that a listener has: nil while it is not wholly known.
  package func serverValue(at path: TreePath, _ window: Window) -> TreeNode? {
    if window.isUnbounded { return serverValue(at: path) }
    return tree.subtree(at: path)?.views.first { $0.window == window }?.cache.completeServerNode
  }
}
