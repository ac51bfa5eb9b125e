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
    /// When it was last known to be the server's, in milliseconds since 1970; nil where that is not known.
    package var seen: Int64?

    package init(node: TreeNode, revision: String?, seen: Int64? = nil) {
      self.node = node
      self.revision = revision
      self.seen = seen
    }
  }

  /// Adds a listener. Events follow at once as far as the value is known.
  ///
  /// - Parameter cached: the value that an earlier process knew; shown until the server says otherwise.
  package mutating func listen(
    at path: TreePath, _ window: Window, as id: ListenerID, cached: CachedValue? = nil, now: Instant
  ) -> [Action] {
    let query = Query(path, window.isUnbounded ? .all : window)
    listens.add(id, to: query)
    let outcome = engine.listen(at: path, window, as: id)
    var actions: [Action] = outcome.events.map { .event($0) }
    if let cached, outcome.requests.contains(where: { $0.isListen(query) }), engine.serverValue(at: path) == nil {
      listens.note(cached, of: query)
      for outcome in engine.show(cached.node, as: query) { actions += follow(outcome, now) }
    }
    for request in outcome.requests { actions += ask(request, now) }
    return actions + takeReady()
  }

  /// Removes a listener; it gets no further event.
  package mutating func unlisten(_ id: ListenerID, now: Instant) -> [Action] {
    guard let query = listens.remove(id) else { return [] }
    // The listener's own last events were those before.
    return follow(engine.unlisten(id, at: query.path), now)
  }

  /// Whether the server has confirmed a listen that covers the node, on the connection that is open.
  package func isLive(_ path: TreePath, _ window: Window = .all) -> Bool {
    listens.isLive(path, window)
  }

  /// The server's value of a query and its revision, for a cache; nil while it is not wholly known.
  package func serverValue(of query: Query) -> CachedValue? {
    engine.serverValue(at: query.path, query.window).map { listens.cached($0, of: query) }
  }

  mutating func ask(_ request: TreeEngine.Request, _ now: Instant) -> [Action] {
    let id = nextID()
    switch request {
    case .listen(let path, let window, let tag):
      listens.ask(Query(path, window), by: id)
      let listen = TreeRequest.listen(path, window, tag: tag.map(Int64.init), hash: nil)
      return follow(sent: wire.request(id, listen, now: now, knowing: knowledge))
    case .unlisten(let path, let window, let tag):
      listens.end(Query(path, window))
      return follow(sent: wire.request(id, .unlisten(path, window, tag: tag.map(Int64.init)), now: now))
    }
  }

  mutating func listened(_ query: Query, _ id: Int64, _ answer: TreeAnswer, _ now: Instant) -> [Action] {
    guard answer.isOK else {
      listens.refuse(id)
      return cancelled(query, "\(answer.status): \(answer.reason)", now)
    }
    listens.confirm(query, revision: answer.revision)
    let outcome = engine.listenCompleted(query.path, tag: engine.tag(of: query.path, query.window))
    return follow(outcome, now) + [.changed(query)] + takeReady()
  }

  private mutating func takeReady() -> [Action] { listens.takeReady().map { .ready($0) } }

  /// The server has ended a listener, or refuses the credential under which it was begun.
  package mutating func cancelled(_ query: Query, _ reason: String, _ now: Instant) -> [Action] {
    let last = reason.hasPrefix("too_big") ? serverValue(of: query) : nil
    listens.end(query)
    let outcome = engine.cancel(at: query.path, query.window, reason: reason)
    for event in outcome.events where event.kind == .cancelled { listens.remove(event.listener) }
    return [.forget(query, last: last)] + follow(outcome, now)
  }

  mutating func receive(_ push: TreePush, _ now: Instant) -> [Action] {
    do throws(TreeWireError) {
      if let change = try PushedChange(push) {
        return listens.loads.take(change)
          ? [] : follow(change.apply(to: &engine), now) + changes(change.path, change.tag)
      }
      if case .part(let path, let json, let part) = push {
        guard let value = try listens.take(json, of: path, part) else { return [] }
        return follow(engine.serverOverwrite(path, with: value), now) + changes(path, nil)
      }
    } catch { return [.close(error)] }
    switch push {
    case .overwrite, .merge, .rangeMerge, .part, .debug: return []
    case .cancelled(let path, let window, let reason):
      return cancelled(Query(path, window.isUnbounded ? .all : window), reason ?? "permission_denied", now)
    case .gap(let path, let window, let gap):
      let query = Query(path, window.isUnbounded ? .all : window)
      return listens.listeners(within: query).map { .gap($0, gap) }
    case .revoked(_, let reason): return [.revoked(reason: reason)]
    }
  }

  private func changes(_ path: TreePath, _ tag: Int64?) -> [Action] {
    if let tag { return engine.query(tag: Int(tag)).map { [.changed(Query($0.path, $0.window))] } ?? [] }
    return listens.queries(concernedBy: path).map { .changed($0) }
  }
}

extension TreeEngine.Request {
  fileprivate func isListen(_ query: TreeClient.Query) -> Bool {
    if case .listen(query.path, query.window, _) = self { true } else { false }
  }
}

extension TreeEngine {
  /// Takes a cached value for the server's.
  fileprivate mutating func show(_ node: TreeNode, as query: TreeClient.Query) -> [Outcome] {
    guard let tag = tag(of: query.path, query.window) else { return [serverOverwrite(query.path, with: node)] }
    return [serverOverwrite(query.path, with: node, tag: tag), listenCompleted(query.path, tag: tag)]
  }
}
