internal import MartletJSON
internal import MartletJSONTree
internal import MartletRuntime
internal import MartletTreeClient
internal import MartletVocabulary

// What the application asks for, and what becomes of it.

extension DatasyncDriver {
  // MARK: Listening

  func listen(_ core: TreeSubscriptionCore) {
    guard core.isOpen else { return }
    cores[core.id] = core
    let cached = values.cached(core.query)
    perform(
      core.needsValues
        ? machine.listen(at: core.path, core.window, as: core.id, cached: cached, now: now)
        : machine.watch(core.path, as: core.id, cached: cached, now: now))
    need()
  }

  func unlisten(_ core: TreeSubscriptionCore) {
    guard cores[core.id] != nil else { return }
    // What stays of a revoked value was decided with the revocation, unless the policy was changed since.
    if core.isRevoked ? core.policy == .forgetData : core.isCancelled { values.retire(core) }
    cores[core.id] = nil
    perform(machine.unlisten(core.id, now: now))
  }

  // MARK: Writing

  func write(_ content: TreeClient.Content, _ path: TreePath, _ handle: DatasyncWrite) {
    let number = machine.lastNumber + 1
    do throws(DatasyncError) {
      // In the file before it is shown or sent.
      try values.storage?.add(DatasyncStorage.Write(number: number, path: path, content: content))
    } catch {
      shared.freeSlot()
      return handle.end(.failure(error))
    }
    do throws(TreeError) {
      let (id, actions) = try machine.write(content, at: path, now: now, milliseconds: milliseconds)
      handle.queued(as: id)
      if values.storage != nil { numbers[id] = number }
      writes[id] = handle
      perform(actions)
      need()
    } catch {
      values.storage?.remove(number)
      shared.freeSlot()
      handle.end(.failure(DatasyncError(error)))
    }
  }

  func settled(_ id: Int64, _ settlement: TreeClient.Settlement) {
    updates[id] = nil
    if let storage = values.storage, let number = numbers.removeValue(forKey: id) {
      storage.remove(number)
      if storage.text("ended") == nil { try? storage.set("ended", "1") }
    }
    guard let handle = writes.removeValue(forKey: id) else { return }
    if !isQuiet(id) { shared.freeSlot() }
    quiet.remove(id)
    handle.end(settlement)
  }

  private func isQuiet(_ id: Int64) -> Bool { quiet.contains(id) }

  var queuedWrites: [DatasyncQueuedWrite] {
    machine.queue.map { write in
      switch write.content {
      case .put(let json):
        DatasyncQueuedWrite(id: write.id, path: write.path.description, value: json, isMerge: false)
      case .merge(let object):
        DatasyncQueuedWrite(id: write.id, path: write.path.description, value: .object(object), isMerge: true)
      }
    }
  }

  func purge() { perform(machine.purge(now: now)) }

  func deferWrite(
    _ content: TreeClient.Content, _ path: TreePath, repeats: Bool, grace: Duration?, _ handle: DatasyncWrite
  ) {
    do throws(TreeError) {
      let milliseconds = grace.map { $0.wholeNanoseconds / 1_000_000 }
      let (id, actions) = try machine.deferWrite(content, at: path, repeats: repeats, grace: milliseconds, now: now)
      handle.queued(as: id)
      track(id, handle)
      perform(actions)
      need()
    } catch {
      handle.end(.failure(DatasyncError(error)))
    }
  }

  func cancelDeferred(_ path: TreePath, _ handle: DatasyncWrite) {
    let (id, actions) = machine.cancelDeferred(at: path, now: now)
    track(id, handle)
    perform(actions)
    need()
  }

  /// A handle whose request takes no room in the queue of writes.
  private func track(_ id: Int64, _ handle: DatasyncWrite) {
    writes[id] = handle
    quiet.insert(id)
  }

  // MARK: Transactions

  func transact(
    _ path: TreePath, _ update: @escaping @Sendable (DatasyncValue) -> JSONValue?, _ handle: DatasyncWrite
  ) {
    let (id, actions) = machine.transact(at: path, now: now)
    updates[id] = update
    track(id, handle)
    perform(actions)
    need()
  }

  /// The application's function runs in a task of its own, never on the loop.
  func compute(_ id: Int64, _ node: TreeNode) {
    guard let update = updates[id] else { return }
    let bound = LoopBound(self, on: loop)
    spawn {
      let json = update(DatasyncValue(node, isAcknowledged: true))
      bound.loop.execute { bound.value.computed(id, json) }
    }
  }

  private func computed(_ id: Int64, _ json: JSONValue?) {
    guard writes[id] != nil else { return }
    do throws(TreeError) {
      perform(try machine.computed(id, json, now: now, milliseconds: milliseconds))
    } catch {
      updates[id] = nil
      quiet.remove(id)
      writes.removeValue(forKey: id)?.end(.failure(DatasyncError(error)))
    }
  }

  // MARK: Presence

  func present(_ json: JSONValue, _ path: TreePath, _ grace: Duration, _ token: PresenceToken) {
    deferWrite(.put(.null), path, repeats: true, grace: grace > .zero ? grace : nil, token.removal)
    guard let id = token.removal.id else { return }
    presences[id] = Presence(json: json, path: path, token: token)
  }

  /// The removal is registered for the present connection: now the value may be written.
  func registered(_ id: Int64) {
    guard let presence = presences[id] else { return }
    do throws(TreeError) {
      let (write, actions) = try machine.write(
        .put(presence.json), at: presence.path, now: now, milliseconds: milliseconds)
      track(write, presence.token.value)
      perform(actions)
    } catch {
      presence.token.value.end(.failure(DatasyncError(error)))
    }
  }

  func absent(_ token: PresenceToken, _ path: TreePath) {
    guard let id = presences.first(where: { $0.value.token.number == token.number })?.key else { return }
    presences[id] = nil
    cancelDeferred(path, DatasyncWrite())
    do throws(TreeError) {
      let (write, actions) = try machine.write(.put(.null), at: path, now: now, milliseconds: milliseconds)
      track(write, DatasyncWrite())
      perform(actions)
    } catch { return }
  }

  // MARK: Reading

  func read(
    _ path: TreePath, _ window: Window, _ done: @escaping @Sendable (Result<DatasyncReading, DatasyncError>) -> Void
  ) {
    if case .failed = shared.state { return done(known(path, window)) }
    if case .disabled = shared.state { return done(known(path, window)) }
    let (id, actions) = machine.get(path, window, now: now)
    reads[id] = Read(query: TreeClient.Query(path, window.isUnbounded ? .all : window), timer: nil, done: done)
    if !machine.isConnected {
      reads[id]?.timer = loop.schedule(at: now + configuration.readTimeout) { [weak self] in
        // A connection that came meanwhile answers.
        guard let self, !machine.isConnected else { return }
        giveUp(id)
      }
    }
    perform(actions)
    need()
  }

  func giveUp(_ id: Int64) {
    let value = machine.query(ofRead: id).flatMap { values.cached($0) }
    perform(machine.stopWaiting(id, cached: value))
  }

  func answered(_ id: Int64, _ reading: TreeClient.Reading) {
    guard let read = reads.removeValue(forKey: id) else { return }
    read.timer?.cancel()
    if case .refused("permission_denied", _) = reading { values.revoke(read.query) }
    read.done(reading.result(now: milliseconds))
  }

  func known(_ path: TreePath, _ window: Window) -> Result<DatasyncReading, DatasyncError> {
    let query = TreeClient.Query(path, window.isUnbounded ? .all : window)
    let value = values.cached(query)
    return machine.known(query, cached: value)
      .result(now: milliseconds, isLive: machine.isLive(path, window))
  }
}

extension TreeClient.Reading {
  /// The reading as the application gets it.
  ///
  /// - Parameters:
  ///   - now: milliseconds since 1970.
  ///   - isLive: whether a listener keeps the value up to date.
  func result(now: Int64, isLive: Bool = false) -> Result<DatasyncReading, DatasyncError> {
    switch self {
    case .server(let node, let revision, let isAcknowledged):
      .success(
        DatasyncReading(
          value: DatasyncValue(node, isAcknowledged: isAcknowledged), source: .server, revision: revision, age: .zero))
    case .cache(let node, let revision, let seen, let isAcknowledged):
      .success(
        DatasyncReading(
          value: DatasyncValue(node, isAcknowledged: isAcknowledged), source: .cache, revision: revision,
          age: isLive ? .zero : seen.map { .milliseconds(max(0, now - $0)) }))
    case .unknown:
      .failure(DatasyncError(.unknownValue, "the server was not reached, and the value is not known here"))
    case .refused(let status, let reason): .failure(DatasyncError(status: status, reason: reason))
    }
  }
}
