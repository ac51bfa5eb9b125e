import MartletJSON
package import MartletJSONTree
import MartletTreeWire
package import MartletVocabulary

extension TreeClient {
  /// A value that a cache kept for a listener.
  package struct CachedValue: Sendable {
    package var node: TreeNode
    /// The revision up to which it is known; nil when the server did not say.
    package var revision: String?

    package init(node: TreeNode, revision: String?) {
      self.node = node
      self.revision = revision
    }
  }

  /// Adds a listener. Events follow at once as far as the value is known.
  ///
  /// - Parameter cached: the value that an earlier process knew; shown until the server says otherwise.
  package mutating func listen(
    at path: TreePath, _ window: Window, as id: ListenerID, cached: CachedValue? = nil, now: Instant
  ) -> [Action] {
    let query = Query(path, window.isUnbounded ? .all : window)
    listeners[id] = query
    unready.insert(id)
    let outcome = engine.listen(at: path, window, as: id)
    var actions: [Action] = outcome.events.map { .event($0) }
    if let cached, outcome.requests.contains(where: { $0.isListen(query) }), engine.serverValue(at: path) == nil {
      revisions[query] = cached.revision
      actions += show(cached.node, query, now)
    }
    for request in outcome.requests { actions += ask(request, now) }
    return actions + newlyReady()
  }

  private mutating func show(_ node: TreeNode, _ query: Query, _ now: Instant) -> [Action] {
    guard let tag = engine.tag(of: query.path, query.window) else {
      return follow(engine.serverOverwrite(query.path, with: node), now)
    }
    return follow(engine.serverOverwrite(query.path, with: node, tag: tag), now)
      + follow(engine.listenCompleted(query.path, tag: tag), now)
  }

  /// Removes a listener; it gets no further event.
  package mutating func unlisten(_ id: ListenerID, now: Instant) -> [Action] {
    unready.remove(id)
    guard let query = listeners.removeValue(forKey: id) else { return [] }
    let outcome = engine.unlisten(id, at: query.path)
    // The listener's own last events were those before.
    return follow(outcome, now)
  }

  /// Whether the server has confirmed a listen that covers the node, on the connection that is open.
  package func isLive(_ path: TreePath, _ window: Window = .all) -> Bool {
    if confirmed.contains(Query(path, window.isUnbounded ? .all : window)) { return true }
    return (0...path.keys.count).contains { confirmed.contains(Query(TreePath(path.keys.prefix($0)), .all)) }
  }

  /// The value as listeners see it: nil when part of it is unknown.
  package func value(at path: TreePath) -> TreeNode? { engine.value(at: path) }

  /// The server's value of a query and its revision, for a cache; nil while it is not wholly known.
  package func serverValue(of query: Query) -> CachedValue? {
    engine.serverValue(at: query.path, query.window).map { CachedValue(node: $0, revision: revisions[query]) }
  }

  mutating func ask(_ request: TreeEngine.Request, _ now: Instant) -> [Action] {
    let id = nextID()
    switch request {
    case .listen(let path, let window, let tag):
      let query = Query(path, window)
      listens[id] = query
      let (engine, revisions) = (engine, revisions)
      return follow(
        sent: wire.request(id, .listen(path, window, tag: tag.map(Int64.init), hash: nil), now: now) { _, _, resumes in
          TreeClientMachine.Known(of: query, engine, revisions, resumes: resumes)
        })
    case .unlisten(let path, let window, let tag):
      let query = Query(path, window)
      listens = listens.filter { $0.value != query }
      confirmed.remove(query)
      revisions[query] = nil
      return follow(sent: wire.request(id, .unlisten(path, window, tag: tag.map(Int64.init)), now: now))
    }
  }

  mutating func listened(_ query: Query, _ id: Int64, _ answer: TreeAnswer, _ now: Instant) -> [Action] {
    guard answer.isOK else {
      listens[id] = nil
      return cancelled(query, "\(answer.status): \(answer.reason)", now)
    }
    confirmed.insert(query)
    revisions[query] = answer.revision
    let outcome = engine.listenCompleted(query.path, tag: engine.tag(of: query.path, query.window))
    return follow(outcome, now) + [.changed(query)] + newlyReady()
  }

  private mutating func newlyReady() -> [Action] {
    let ready = unready.filter { id in listeners[id].map { isLive($0.path, $0.window) } ?? false }
    unready.subtract(ready)
    return ready.sorted().map { .ready($0) }
  }

  /// The server has ended a listener.
  mutating func cancelled(_ query: Query, _ reason: String, _ now: Instant) -> [Action] {
    listens = listens.filter { $0.value != query }
    confirmed.remove(query)
    revisions[query] = nil
    let outcome = engine.cancel(at: query.path, query.window, reason: reason)
    for event in outcome.events where event.kind == .cancelled {
      listeners[event.listener] = nil
      unready.remove(event.listener)
    }
    return [.forget(query)] + follow(outcome, now)
  }

  mutating func receive(_ push: TreePush, _ now: Instant) -> [Action] {
    let reader = TreeReader(limits: .largest)
    switch push {
    case .overwrite(let path, let json, let tag):
      guard let node = try? reader.read(json, at: path) else { return [.close(Self.unreadable("d", path))] }
      let outcome =
        tag.map { engine.serverOverwrite(path, with: node, tag: Int($0)) }
        ?? engine.serverOverwrite(path, with: node)
      return follow(outcome, now) + changes(path, tag)
    case .merge(let path, let object, let tag):
      guard let parts = try? reader.readMerge(object, at: path) else { return [.close(Self.unreadable("m", path))] }
      let outcome =
        tag.map { engine.serverMerge(path, parts, tag: Int($0)) } ?? engine.serverMerge(path, parts)
      return follow(outcome, now) + changes(path, tag)
    case .rangeMerge(let path, let ranges, let tag):
      var replaced: [LeafRange] = []
      for range in ranges {
        guard let node = try? reader.read(range.replacement, at: path) else {
          return [.close(Self.unreadable("rm", path))]
        }
        replaced.append(LeafRange(start: range.start, end: range.end, replacement: node))
      }
      return follow(engine.serverReplace(path, replaced), now) + changes(path, tag)
    case .cancelled(let path, let window, let reason):
      return cancelled(Query(path, window.isUnbounded ? .all : window), reason ?? "permission_denied", now)
    case .gap(let path, let window, let gap):
      let query = Query(path, window.isUnbounded ? .all : window)
      let concerned = listeners.filter { _, own in
        own == query || query.window.isUnbounded && query.path.contains(own.path)
      }
      return concerned.keys.sorted().map { .gap($0, gap) }
    case .revoked(_, let reason): return [.revoked(reason: reason)]
    case .debug: return []
    }
  }

  private static func unreadable(_ action: String, _ path: TreePath) -> TreeWireError {
    TreeWireError(.invalidTree, "\(action): the value of \(path) cannot be read")
  }

  private func changes(_ path: TreePath, _ tag: Int64?) -> [Action] {
    if let tag { return engine.query(tag: Int(tag)).map { [.changed(Query($0.path, $0.window))] } ?? [] }
    return Set(listens.values).filter { $0.window.isUnbounded && ($0.path.contains(path) || path.contains($0.path)) }
      .map { .changed($0) }
  }
}

extension TreeEngine.Request {
  fileprivate func isListen(_ query: TreeClient.Query) -> Bool {
    if case .listen(query.path, query.window, _) = self { true } else { false }
  }
}
