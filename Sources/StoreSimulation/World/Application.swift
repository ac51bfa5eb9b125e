internal import MartletDataStore
internal import MartletGraphQLClient
internal import MartletSimulation
internal import MartletVocabulary

/// What the application does on one device: saves, deletes, transactions, live queries, and the care of refused writes.
///
/// `@unchecked Sendable` holds because it is touched only inside the executor's pump.
final class Application<N: WorldNote>: @unchecked Sendable {
  private let client: WorldClient
  private let process: WorldClient.Process
  private unowned let world: World
  private var random: SeededRandom
  private var words = 0

  init(_ client: WorldClient, _ process: WorldClient.Process) {
    self.client = client
    self.process = process
    world = client.world
    random = SeededRandom(seed: client.world.seed &* 77 &+ UInt64(client.index * 13 + process.number))
  }

  private func below(_ bound: Int) -> Int { Int(random.next() % UInt64(max(1, bound))) }
  private var isAlive: Bool { client.isAlive(process) }
  private var store: DataStore {
    get throws {
      guard let store = process.store else { throw CancellationError() }
      return store
    }
  }

  func run() {
    watchNotes()
    watchAccounts()
    watchChanges()
    watchEvents()
    world.spawn { [self] in
      try? await process.store?.start()
      while isAlive {
        await world.executor.sleep(.milliseconds(30 + below(1_500)))
        guard isAlive, !world.isSettling else { break }
        await step()
      }
    }
  }

  // MARK: Writing

  private func step() async {
    do {
      switch below(16) {
      case 0...7: try await save()
      case 8, 9: try await delete()
      case 10: try await saveWhere()
      case 11, 12: try await saveTwo()
      case 13: try await careForLetters()
      default: try await pause()
      }
    } catch {
      guard isAlive else { return }
      world.record("\(client.name): \(error)")
      switch error {
      case let error as DataStoreError where error.code == .storage || error.code == .migration:
        world.checks.fail(.failure, "\(client.name): \(error)")
      default: break
      }
    }
  }

  private func id() -> String { "n\(below(6))" }

  private func word() -> String {
    words += 1
    let word = "\(client.index).\(process.number).\(words)"
    // Some are longer than the server allows a title to be.
    return below(40) == 0 ? word + ".longer-than-a-title" : word
  }

  /// The record after a change that this application makes.
  private func changed(_ known: N?, _ id: String, _ word: String) -> (note: N, field: Intent.Field) {
    guard var note = known else { return (N(id: id, title: word, rank: below(10), tags: [word]), .record) }
    switch below(3) {
    case 0:
      note.tags = (note.tags ?? []) + [word]
      return (note, .tags)
    case 1:
      note.title = word
      note.rank = below(10)
      return (note, .title)
    default:
      note.title = word
      note.tags = (note.tags ?? []) + [word]
      return (note, .record)
    }
  }

  private func save() async throws {
    let (id, word) = (id(), word())
    let known = try await store.query(N.self, byId: id)
    guard isAlive else { return }
    let (note, field) = changed(known, id, word)
    let intent = world.checks.intend(client, id, word, field)
    let handle = try await store.submit(note)
    guard isAlive else { return }
    world.record("\(client.name) saves \(id) \(word) as \(handle.write)")
    world.checks.accepted(intent, handle)
    try await look(for: intent, note)
  }

  /// What was saved is seen at once.
  private func look(for intent: Intent, _ note: N) async throws {
    let seen = try await store.query(N.self, byId: intent.id)
    guard isAlive else { return }
    world.checks.echo(client, intent, saved: (note.title, note.tags), seen: seen.map { ($0.title, $0.tags) })
  }

  private func saveWhere() async throws {
    let (id, word) = (id(), word())
    guard var note = try await store.query(N.self, byId: id), isAlive else { return }
    note.title = word
    note.tags = (note.tags ?? []) + [word]
    let intent = world.checks.intend(client, id, word, .record)
    let handle = try await store.submit(note, where: N.rankKey < 6)
    guard isAlive else { return }
    world.record("\(client.name) saves \(id) \(word) on a condition as \(handle.write)")
    world.checks.accepted(intent, handle)
  }

  private func saveTwo() async throws {
    let ids = (id(), id())
    let words = (word(), word())
    let first = changed(try await store.query(N.self, byId: ids.0), ids.0, words.0)
    let second = changed(try await store.query(N.self, byId: ids.1), ids.1, words.1)
    guard isAlive, ids.0 != ids.1 else { return }
    let intents = [
      world.checks.intend(client, ids.0, words.0, first.field),
      world.checks.intend(client, ids.1, words.1, second.field),
    ]
    try await store.transaction { transaction in
      try transaction.save(first.note)
      try transaction.save(second.note)
    }
    guard isAlive else { return }
    world.record("\(client.name) saves \(ids.0) \(words.0) and \(ids.1) \(words.1)")
    for intent in intents { world.checks.accepted(intent, nil) }
  }

  private func delete() async throws {
    let id = id()
    guard let note = try await store.query(N.self, byId: id), isAlive else { return }
    let intent = world.checks.intend(client, id, word(), .deletion)
    let handle = try await store.submitDeletion(of: note)
    guard isAlive else { return }
    world.record("\(client.name) deletes \(id) as \(handle.write)")
    world.checks.accepted(intent, handle)
  }

  private func careForLetters() async throws {
    guard let letter = try await store.rejectedWrites().first, isAlive else { return }
    world.checks.letters(try await store.rejectedWrites(), client)
    if below(2) == 0 {
      world.count("letter discarded")
      try await store.discard(letter)
    } else {
      var isRetried = false
      do {
        try await store.retry(letter)
        isRetried = true
      } catch {
        // The record that it changes is gone: it stays among the refused ones.
        world.count("letter not retried")
      }
      guard isAlive else { return world.checks.mayBeRetried(letter, client) }
      guard isRetried else { return }
      world.count("letter retried")
      world.checks.retried(letter, client)
    }
  }

  /// Stops the sync for a moment.
  private func pause() async throws {
    guard below(6) == 0 else { return }
    world.count("sync stopped")
    try await store.stop()
    await world.executor.sleep(.milliseconds(below(2_000)))
    try await store.start()
  }

  // MARK: Watching

  private func watchNotes() {
    guard let stream = process.store?.observeQuery(for: N.self, sort: .ascending(N.idKey)) else { return }
    process.streams.append { stream.cancel() }
    world.spawn { [self] in
      var items: [Row] = []
      do {
        for try await snapshot in stream {
          guard isAlive else { break }
          let next = snapshot.items.map { Row($0) }
          world.checks.snapshot(client, before: items, snapshot.changes, after: next)
          items = next
        }
      } catch {
        if isAlive { world.checks.fail(.failure, "\(client.name): a live query ended: \(error)") }
      }
    }
  }

  private func watchAccounts() {
    guard let stream = process.store?.observeQuery(for: Account.self) else { return }
    process.streams.append { stream.cancel() }
    world.spawn { [self] in
      do {
        for try await snapshot in stream {
          guard isAlive else { break }
          world.checks.accounts(client, snapshot.items.map(\.amount), isSynced: snapshot.isSynced)
        }
      } catch {
        if isAlive { world.checks.fail(.failure, "\(client.name): a live query ended: \(error)") }
      }
    }
  }

  private func watchChanges() {
    guard let stream = process.store?.observe(N.self) else { return }
    process.streams.append { stream.cancel() }
    world.spawn { [self] in
      do {
        for try await event in stream {
          guard isAlive else { break }
          world.checks.observed(client, process.number, event)
        }
      } catch {
        if isAlive { world.checks.fail(.failure, "\(client.name): an observer ended: \(error)") }
      }
    }
  }

  private func watchEvents() {
    guard let events = process.store?.events else { return }
    world.spawn { [self] in
      for await event in events {
        guard isAlive else { break }
        world.checks.event(client, event)
        if case .terminated = event { client.noteTerminated() }
        if case .ready = event { lookAtStart() }
      }
    }
  }

  /// Compares what the store has, now that it says that it is ready.
  private func lookAtStart() {
    guard let mark = world.checks.mark(client), let stream = process.store?.observeQuery(for: N.self) else { return }
    process.streams.append { stream.cancel() }
    let open = world.checks.openIds(client)
    world.spawn { [self] in
      defer { stream.cancel() }
      var snapshots = stream.makeAsyncIterator()
      guard let items = try? await snapshots.next()?.items, isAlive else { return }
      let pending = items.indices.filter { items.isPending(at: $0) }.map { items[$0].id }
      world.checks.startPoint(client, items.map { Row($0) }, open.union(pending), at: mark)
    }
  }
}
