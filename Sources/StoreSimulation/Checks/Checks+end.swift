internal import MartletDataStore
internal import MartletJSON

/// What is compared when the faults have ended and everything has come to rest.
extension Checks {
  /// Compares all stores with the server, and accounts for every write.
  func compareAll() async {
    guard let world else { return }
    let records = world.server.records(of: "Note").map { entry in
      Row(
        id: entry.key, title: entry.record["title"]?.string ?? "", rank: entry.record["rank"]?.int.map(Int.init),
        tags: (entry.record["tags"]?.array ?? []).compactMap(\.string), owner: entry.record["owner"]?.string,
        mood: entry.record["mood"]?.string)
    }
    compareLog(records)
    for client in world.clients {
      guard let store = client.process?.store else { continue }
      do {
        let rows: [Row]
        if client.runsLater {
          rows = try await store.query(Later.Note.self).map { Row($0) }
        } else {
          rows = try await store.query(Note.self).map { Row($0) }
        }
        var expected = records.filter { world.server.schema.shows(owner: $0.owner, to: client.name) }
        if !client.runsLater { for index in expected.indices { expected[index].mood = nil } }
        compare(client, rows.sorted { $0.id < $1.id }, expected, all: records)
        if let last = lastItems[client.index], last != rows.sorted(by: { $0.id < $1.id }) {
          fail(.snapshots, "\(client.name)'s last snapshot has \(last), a query gives \(rows)")
        }
        let amounts = try await store.query(Account.self).map(\.amount)
        compareSum(client, amounts)
        letters(try await store.rejectedWrites(), client)
      } catch {
        fail(.failure, "\(client.name) cannot be read: \(error)")
      }
    }
    for row in records where Set(row.tags).count != row.tags.count {
      fail(.idempotence, "\(row.id) has a tag twice: \(row.tags)")
    }
    compareFates()
  }

  /// P17: the records are what the log of all that was durable comes to.
  private func compareLog(_ records: [Row]) {
    guard let world else { return }
    let alive = world.server.lastChanges.filter { $0.change.title != nil }
    let found = Dictionary(records.map { ($0.id, $0.title) }) { first, _ in first }
    for (id, last) in alive where found[id] != last.title {
      fail(.durability, "the log's last title of \(id) is \(last.title ?? ""), the record has \(found[id] ?? "none")")
    }
  }

  private func compare(_ client: WorldClient, _ rows: [Row], _ expected: [Row], all: [Row]) {
    if rows == expected { return }
    for row in rows where !expected.contains(where: { $0.id == row.id }) {
      if all.contains(where: { $0.id == row.id }) {
        fail(.revocation, "\(client.name) shows \(row), which it may not read")
      } else {
        fail(.convergence, "\(client.name) shows \(row), which the server does not have")
      }
    }
    for row in expected {
      guard let own = rows.first(where: { $0.id == row.id }) else {
        fail(.noGap, "\(client.name) lacks \(row)")
        continue
      }
      if own != row { fail(.noGap, "\(client.name) shows \(own), the server has \(row)") }
    }
  }

  private func compareFates() {
    for intent in intents where intent.isAccepted {
      if let handle = intent.handle { compareFate(intent, handle) }
      guard intent.field != .deletion, !intent.isReplaced, !judged.contains(intent.word),
        !lettered.contains(intent.word)
      else { continue }
      let later = intents[(intent.order + 1)...].contains { other in
        other.client == intent.client && other.id == intent.id
          && (other.field == .deletion || intent.field == .title && (other.field == .title || other.field == .record))
      }
      if !later { fail(.noLoss, "\(intent.word) of client\(intent.client) for \(intent.id) is nowhere") }
    }
  }

  /// P12: each write of a process that lives has come to one end.
  private func compareFate(_ intent: Intent, _ handle: WriteHandle) {
    if intent.isUnrecorded { return }
    let name = "client\(intent.client)'s \(intent.word) for \(intent.id)"
    guard let end = handle.end else {
      if handle.stage < .seen { fail(.oneFate, "\(name) has come no further than \(handle.stage)") }
      return
    }
    if end.reason == .serverRestored, copies == 0 { fail(.oneFate, "\(name) ended as \(end.reason)") }
    guard case .rejected(let reason) = end.reason else { return }
    if handle.stage >= .durable { fail(.oneFate, "\(name) was durable, and then refused: \(reason)") }
    if case .refused("OUTCOME_FORGOTTEN", _) = reason { return }
    if intent.field != .deletion, intent.field != .tags, applied.titles.contains(intent.word),
      !retriedWords.contains(intent.word)
    {
      fail(.oneFate, "\(name) was refused as \(reason), and the server has applied it")
    }
  }
}
