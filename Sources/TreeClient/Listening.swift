import MartletJSON
import MartletJSONTree
import MartletTreeWire

/// What a client listens to and what it knows of it: the engine, which knows what listeners see, and the listens, which
/// know what the server was asked for and what it has confirmed.
struct Listening: Sendable {
  typealias Query = TreeClient.Query
  typealias CachedValue = TreeClient.CachedValue

  /// What follows from one call: what the owner has to do, and then what the server has to be asked for.
  struct Outcome {
    var actions: [TreeClient.Action] = []
    var requests: [TreeEngine.Request] = []

    mutating func add(_ outcome: TreeEngine.Outcome) {
      actions += outcome.events.map { .event($0) }
      requests += outcome.requests
    }
  }

  var engine = TreeEngine()
  var listens = Listens()
  /// What caches have of the nodes that are watched, until it is known whether the server offers watches.
  private var cachedWatches: [TreePath: CachedValue] = [:]

  // MARK: Listeners

  /// Adds a listener. Events follow at once as far as the value is known.
  mutating func listen(at path: TreePath, _ window: Window, as id: ListenerID, cached: CachedValue?) -> Outcome {
    let query = Query(path, window.isUnbounded ? .all : window)
    listens.add(id, to: query)
    let asked = engine.listen(at: path, window, as: id)
    var outcome = Outcome()
    outcome.add(asked)
    if let cached, asked.requests.contains(where: { $0.isListen(query) }), engine.serverValue(at: path) == nil {
      listens.note(cached, of: query)
      for shown in engine.show(cached.node, as: query) { outcome.add(shown) }
    }
    outcome.actions += takeReady()
    return outcome
  }

  /// Adds a listener that gets a node's changes without its values.
  ///
  /// - Parameter offersWatches: whether the server sends such changes; nil where that is not known.
  mutating func watch(_ path: TreePath, as id: ListenerID, cached: CachedValue?, offersWatches: Bool?) -> Outcome {
    if offersWatches == false { return listen(at: path, .all, as: id, cached: cached) }
    if let cached, !listens.isWatched(path) {
      listens.note(cached, of: .watch(path))
      if offersWatches == nil { cachedWatches[path] = cached }
    }
    listens.add(id, to: .watch(path))
    var outcome = Outcome()
    outcome.add(engine.watch(path, as: id, isKnown: cached != nil))
    outcome.actions += takeReady()
    return outcome
  }

  /// Removes a listener; it gets no further event.
  mutating func unlisten(_ id: ListenerID) -> Outcome {
    var outcome = Outcome()
    guard let query = listens.remove(id) else { return outcome }
    // The listener's own last events were those before.
    outcome.add(query.isWatch ? engine.unwatch(id, at: query.path) : engine.unlisten(id, at: query.path))
    return outcome
  }

  /// The server has greeted. From one that offers no watches the values are asked for.
  mutating func greeted(offersWatches: Bool) -> Outcome {
    defer { cachedWatches = [:] }
    var outcome = Outcome()
    guard !offersWatches else { return outcome }
    for (path, id, isReported) in engine.takeWatches() {
      listens.end(.watch(path))
      let listened = listen(at: path, .all, as: id, cached: cachedWatches[path])
      outcome.requests += listened.requests
      // What was reported of this client's writes is not reported again.
      outcome.actions += listened.actions.filter { action in
        guard isReported, case .event(let event) = action else { return true }
        return event.listener != id || event.kind != .value
      }
    }
    return outcome
  }

  private mutating func takeReady() -> [TreeClient.Action] { listens.takeReady().map { .ready($0) } }

  /// What this client has of listeners' values, for the listens that are sent.
  var knowledge: TreeClientMachine.Knowledge {
    { [engine, revisions = listens.revisions] path, window, resumes in
      if let window { return TreeClientMachine.Known(of: Query(path, window), engine, revisions, resumes: resumes) }
      var known = TreeClientMachine.Known()
      known.since = revisions[.watch(path)]
      return known
    }
  }

  /// The server's value of a query and its revision, for a cache; nil while it is not wholly known.
  func serverValue(of query: Query) -> CachedValue? {
    engine.serverValue(at: query.path, query.window).map { listens.cached($0, of: query) }
  }

  // MARK: The server

  /// The server has answered a listen.
  mutating func answered(_ query: Query, _ id: Int64, _ answer: TreeAnswer) -> Outcome {
    guard answer.isOK else {
      listens.refuse(id)
      return cancelled(query, "\(answer.status): \(answer.reason)")
    }
    listens.confirm(query, revision: answer.revision)
    var outcome = Outcome()
    if !query.isWatch {
      outcome.add(engine.listenCompleted(query.path, tag: engine.tag(of: query.path, query.window)))
      outcome.actions.append(.changed(query))
    }
    outcome.actions += takeReady()
    return outcome
  }

  /// The server has ended the listeners of a query, or refuses them.
  mutating func cancelled(_ query: Query, _ reason: String) -> Outcome {
    var outcome = Outcome()
    let isTooLarge = !query.isWatch && reason.hasPrefix("too_big")
    let last = isTooLarge ? serverValue(of: query) : nil
    listens.end(query)
    let ended =
      query.isWatch
      ? engine.cancelWatch(of: query.path, reason: reason)
      : engine.cancel(at: query.path, query.window, reason: reason)
    for event in ended.events where event.kind == .cancelled { listens.remove(event.listener) }
    // What a cache has of a watched node may not be shown either; a listener that has the value is ended by itself.
    if !query.isWatch || !listens.isLive(query.path, .all) {
      outcome.actions.append(.forget(Query(query.path, query.window), last: last))
    }
    outcome.add(ended)
    return outcome
  }

  mutating func receive(_ push: TreePush) -> Outcome {
    var outcome = Outcome()
    do throws(TreeWireError) {
      if let change = try PushedChange(push) {
        guard !listens.loads.take(change) else { return outcome }
        outcome.add(change.apply(to: &engine))
        outcome.actions += changes(change.path, change.tag)
        return outcome
      }
      if case .part(let path, let json, let part) = push {
        guard let value = try listens.take(json, of: path, part) else { return outcome }
        outcome.add(engine.serverOverwrite(path, with: value))
        outcome.actions += changes(path, nil)
        return outcome
      }
    } catch { return Outcome(actions: [.close(error)]) }
    switch push {
    case .overwrite, .merge, .rangeMerge, .part, .debug: break
    case .cancelled(let path, let window, let reason):
      outcome = cancelled(Query(path, window.isUnbounded ? .all : window), reason ?? "permission_denied")
    case .gap(let path, let window, let gap): report(gap, of: Query(path, window.isUnbounded ? .all : window), &outcome)
    case .watched(let path, .changed(let places, let revision)):
      outcome.add(engine.watchedChanged(path, places: places, revision: revision))
    case .watched(let path, .gap(let gap)): report(gap, of: .watch(path), &outcome)
    case .watched(let path, .ended(let reason)): outcome = cancelled(.watch(path), reason)
    case .revoked(_, let reason): outcome.actions = [.revoked(reason: reason)]
    }
    return outcome
  }

  private func report(_ gap: TreePush.Gap, of query: Query, _ outcome: inout Outcome) {
    outcome.actions += listens.listeners(within: query).map { .gap($0, gap) }
  }

  private func changes(_ path: TreePath, _ tag: Int64?) -> [TreeClient.Action] {
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
