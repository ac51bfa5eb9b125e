internal import MartletJSON
internal import MartletStore
internal import MartletSyncEngine
internal import MartletVocabulary

/// Several processes on one store: one runs the engine, the others save, observe and show its status. On the store's
/// thread.
extension SyncShell {
  /// The name of the value in which the process with the engine says how far the sync is.
  private static let shared = "engine"

  /// Another process has committed something.
  func othersCommitted(_ writer: ClientWriter) {
    do {
      if engine != nil {
        try takeOutbox(writer)
      } else if report.status.isElsewhere {
        try takeStatus(writer)
      }
    } catch {
      report.fail(StoreRoom.error(error))
    }
    publishStatus(writer)
  }

  /// Gives the engine the writes of other processes.
  private func takeOutbox(_ writer: ClientWriter) throws {
    guard try writer.value("client") != nil else {
      // Another process has cleared the store.
      stop(writer)
      engine = nil
      return start(writer)
    }
    let stored = try writer.outbox()
    let known = Set(engine?.pendingNumbers ?? [])
    for write in stored where !known.contains(write.number) {
      handle(.outbox(.added(number: write.number, model: write.model)), writer)
    }
    let gone = known.subtracting(stored.map(\.number)).sorted()
    if !gone.isEmpty { handle(.outbox(.removed(gone)), writer) }
  }

  /// Says in the store how far the sync is, for other processes.
  func share(_ writer: ClientWriter) {
    guard engine != nil, writer.isShared else { return }
    let models = report.status.models.filter { $0.value.isSynced }.keys.sorted().map { JSONValue.string($0) }
    let text = JSONValue.object([
      "isConnected": .bool(report.status.isConnected), "synced": .array(models),
    ]).description
    guard (try? writer.value(Self.shared)) != text else { return }
    _ = try? writer.transaction { try $0.set(Self.shared, text) }
  }

  /// What the process with the engine has said, and what has become of this process's writes.
  private func takeStatus(_ writer: ClientWriter) throws {
    let text = try writer.value(Self.shared) ?? "{}"
    let shared = try JSONValue(parsing: Array(text.utf8))
    report.status.isConnected = shared["isConnected"]?.bool ?? false
    let synced = Set((shared["synced"]?.array ?? []).compactMap(\.string))
    for number in mappings.indices { setSynced(number, synced.contains(mappings[number].name)) }
    let pending = Set(try writer.outbox().map(\.number))
    let letters = try writer.letters()
    let seen = try writer.value("cursor").flatMap { Cursor($0)?.offset } ?? 0
    for (number, place) in report.places where !pending.contains(number) {
      if let letter = letters.first(where: { $0.letter.write.number == number }) {
        report.finish(number, .rejected(.init(letter.letter.reason)))
        continue
      }
      report.move(number, to: .durable)
      let position = try writer.image(model: place.model, place.key)?.position ?? 0
      if position <= seen { report.move(number, to: .seen) }
    }
    report.status.isSettled = report.status.isConnected && report.status.isSynced && pending.isEmpty
  }
}
