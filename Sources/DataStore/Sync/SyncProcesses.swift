internal import MartletJSON
internal import MartletStore
internal import MartletSyncEngine
internal import MartletVocabulary

/// A process's part in the right to run the engine of a store.
struct EngineRight {
  /// The path of the store's file; nil for a store in memory, which no other process has.
  private let path: String?
  private var lock: EngineLock?

  init(path: String? = nil) { self.path = path }

  /// Whether this process has the right.
  var isHeld: Bool { path == nil || lock?.isHeld == true }

  /// Asks for the right. Returns whether this process has it; otherwise `onTaken` is called, on some thread, once it
  /// has.
  mutating func take(_ onTaken: @escaping @Sendable () -> Void) throws(StoreError) -> Bool {
    guard let path else { return true }
    if let lock { return lock.isHeld }
    let lock = EngineLock(path: path)
    self.lock = lock
    if try lock.take() { return true }
    try lock.wait(onTaken: onTaken)
    return false
  }

  /// Another process may have it.
  mutating func giveUp() {
    lock?.release()
    lock = nil
  }
}

/// Several processes on one store: one runs the engine, the others save, observe and show its status. On the store's
/// thread.
struct SyncProcesses {
  /// The name of the value in which the process with the engine says how far the sync is.
  private static let shared = "engine"

  let shell: SyncShell
  let writer: ClientWriter

  // MARK: The right to run the engine

  /// One process runs the engine. Another waits until it has ended.
  func takeRight() throws -> Bool {
    let isTaken = try shell.right.take { [weak shell] in
      shell?.room?.onThread { [weak shell] writer in
        // Stopped meanwhile, which has given the right up.
        if shell?.right.isHeld == true { shell?.start(writer) }
      }
    }
    if !isTaken { shell.report.status.isElsewhere = true }
    return isTaken
  }

  /// Whether this process can sync the models as they are. One that lacks fields which another has added leaves the
  /// sync to that: it would send and store records without them.
  func hasAllFields() -> Bool {
    do {
      try writer.checkFields()
      return true
    } catch {
      guard error.code == .migration else { return true }
      let report = shell.report
      shell.downloads.disconnect()
      shell.forget()
      shell.right.giveUp()
      report.announce(.networkStatus(active: false))
      report.terminate(DataStoreError(error))
      report.status.isElsewhere = true
      do { try takeStatus() } catch { report.fail(StoreRoom.error(error)) }
      shell.publishStatus(writer)
      return false
    }
  }

  // MARK: What others do

  /// Another process has committed something, or has opened the store.
  func follow() {
    if shell.engine != nil, !hasAllFields() { return }
    do {
      if shell.engine != nil {
        try takeOutbox()
      } else if shell.report.status.isElsewhere {
        try takeStatus()
      }
    } catch {
      shell.report.fail(StoreRoom.error(error))
    }
    shell.publishStatus(writer)
  }

  /// Gives the engine the writes of other processes.
  private func takeOutbox() throws {
    guard try writer.value("client") != nil else {
      // Another process has cleared the store.
      shell.stop(writer)
      shell.forget()
      shell.report.endAll(.cleared)
      return shell.start(writer)
    }
    let stored = try writer.outbox()
    let known = Set(shell.engine.map { Array($0.pendingNumbers) } ?? [])
    for write in stored where !known.contains(write.number) {
      shell.handle(.outbox(.added(number: write.number, model: write.model)), writer)
    }
    let gone = known.subtracting(stored.map(\.number)).sorted()
    if gone.isEmpty { return }
    shell.handle(.outbox(.removed(gone)), writer)
    if shell.right.isHeld {
      // Only this process sends: what was written in another has left nothing to send.
      for number in gone { shell.report.supersede(number) }
    } else {
      _ = try settleWrites(pending: Set(stored.map(\.number)))
    }
  }

  /// Finds out what other processes have made of this one's writes that no longer wait. Returns those that the server
  /// has and the feed has not passed, with the positions of their records.
  func settleWrites(pending: Set<Int64>) throws -> [(number: Int64, position: Int64)] {
    let report = shell.report
    let gone = report.places.filter { !pending.contains($0.key) }.sorted { $0.key < $1.key }
    if gone.isEmpty { return [] }
    let letters = try writer.letters()
    let seen = try writer.value(SyncHistory.feedName).flatMap { Cursor($0)?.offset } ?? 0
    var durable: [(number: Int64, position: Int64)] = []
    for (number, place) in gone {
      if let letter = letters.first(where: { $0.letter.write.number == number }) {
        report.finish(number, .rejected(.init(letter.letter.reason)))
      } else if let image = try writer.image(model: place.model, place.key) {
        report.move(number, to: .durable)
        if image.position <= seen { report.move(number, to: .seen) } else { durable.append((number, image.position)) }
      } else {
        // The server never had the record.
        if try writer.value("client") == nil {
          report.finish(number, .cleared)
        } else {
          report.supersede(number, at: place)
        }
      }
    }
    return durable
  }

  // MARK: Status

  /// Says in the store how far the sync is, for other processes. Only the one with the right does: of two that did,
  /// each would answer the other for ever.
  func share() {
    guard shell.engine != nil, shell.right.isHeld, (try? writer.hasOthers()) == true else { return }
    let status = shell.report.status
    let models = status.models.filter { $0.value.isSynced }.keys.sorted().map { JSONValue.string($0) }
    let text = JSONValue.object([
      "isConnected": .bool(status.isConnected), "synced": .array(models),
    ]).description
    guard (try? writer.value(Self.shared)) != text else { return }
    _ = try? writer.transaction { try $0.set(Self.shared, text) }
  }

  /// What the process with the engine has said, and what has become of this process's writes.
  private func takeStatus() throws {
    let report = shell.report
    let text = try writer.value(Self.shared) ?? "{}"
    let shared = try JSONValue(parsing: Array(text.utf8))
    report.status.isConnected = shared["isConnected"]?.bool ?? false
    let synced = Set((shared["synced"]?.array ?? []).compactMap(\.string))
    for number in shell.mappings.indices { shell.setSynced(number, synced.contains(shell.mappings[number].name)) }
    let pending = Set(try writer.outbox().map(\.number))
    _ = try settleWrites(pending: pending)
  }
}
