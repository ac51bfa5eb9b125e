import MartletJSON
import MartletLiveQueries
import MartletModels
import MartletPowerCut
import MartletSQLite
import MartletSimulation
import MartletStore
import MartletSyncEngine
import MartletVocabulary
import Testing

/// A client's process that ends between any two accesses to its disk, and a disk that forgets what was not synced.
@Suite struct ClientPowerCutTests {
  /// All that a store has after a start.
  private struct State: Equatable {
    var rows: [LiveRow?] = []
    var outbox: [Int64] = []
    var pending: [[PendingWrite]] = []
    var letters: [DeadLetter] = []
    var cursor: String?
  }

  private static let ids = ["a", "b", "c", "d"]
  private static let shape = RecordShape(
    model: 0, name: "Note", tableName: "Note",
    columns: ["id", "text"].map { name in
      RecordColumn(
        name: name, field: name, storage: .text, signature: "text", isRequired: false, defaultValue: .null)
    }, key: [0], indexes: [], cascades: [])

  private static func key(_ id: String) -> RecordKey { RecordKey(values: [.string(id)]) }

  private static func open(_ files: MemoryFiles) throws -> ClientWriter {
    try ClientWriter(path: "/store", on: files, shapes: [shape], syncs: true, checkpointPages: 6)
  }

  private static func state(_ writer: ClientWriter) throws -> State {
    var state = State()
    for id in ids {
      state.rows.append(try writer.row(model: 0, key(id)))
      state.pending.append(try writer.pending(model: 0, key(id)))
    }
    state.outbox = try writer.outbox().map(\.number)
    state.letters = try writer.letters().map(\.letter)
    state.cursor = try writer.value("cursor")
    return state
  }

  /// Saves, deletions, the server's changes and its answers, as the application and the engine make them.
  ///
  /// - Returns: whether the step is a durable one; pages of a sync are not.
  private static func step(_ number: Int, _ random: inout SeededRandom, _ writer: ClientWriter) throws -> Bool {
    let id = ids[Int(random.next() % 4)]
    let kind = random.next() % 12
    let first = try writer.pending(model: 0, key(id)).first
    let image = ServerImage(
      record: Record(values: [.string(id), .string("s\(number)")]), version: Int64(number), position: Int64(number))
    let isPage = kind > 7
    _ = try writer.transaction(isDurable: !isPage) { transaction in
      switch kind {
      case 0, 1, 2: try transaction.save(model: 0, Record(values: [.string(id), .string("l\(number)")]))
      case 3:
        for id in ["a", "b"] { try transaction.save(model: 0, Record(values: [.string(id), .string("l\(number)")])) }
      case 4: _ = try transaction.delete(model: 0, key(id))
      case 5:
        _ = try transaction.receive([RemoteChange(model: 0, key: key(id), image: image)])
        try transaction.set("cursor", "c\(number)")
      case 8...: try transaction.receivePage([RemoteChange(model: 0, key: key(id), image: image)])
      case _:
        guard let first else { break }
        if kind == 6 {
          _ = try transaction.send(model: 0, key(id), first.number)
        } else if number % 3 == 0 {
          try transaction.reject(model: 0, key(id), first.number, .refused(code: "NO", message: ""))
        } else {
          try transaction.acknowledge(model: 0, key(id), first.number, image)
        }
      }
    }
    return !isPage
  }

  @Test(arguments: [3, 4] as [UInt64])
  func `P15: rows, outbox, refused writes and cursor are those of one commit, wherever the process ends`(
    seed: UInt64
  ) throws {
    var random = SeededRandom(seed: seed)
    let files = MemoryFiles()
    files.record(true)
    var commits: [(events: Int, state: State, isDurable: Bool)] = []
    do {
      let writer = try Self.open(files)
      commits.append((files.eventCount, try Self.state(writer), true))
      for number in 1...12 {
        let before = files.eventCount
        let isDurable = try Self.step(number, &random, writer)
        // A step that has written nothing has synced nothing.
        commits.append((files.eventCount, try Self.state(writer), isDurable && files.eventCount > before))
      }
    }
    let events = files.events
    #expect(events.contains { if case .sync("/store") = $0 { true } else { false } }, "the log is not checkpointed")
    let cut = PowerCut(events: events)
    var (ahead, behind) = (0, 0)
    for prefix in commits[0].events...events.count {
      let last = try #require(commits.lastIndex { $0.events <= prefix })
      // A page that was applied can be undone, and what was synced cannot.
      let synced = commits[...last].lastIndex { $0.isDurable } ?? 0
      let possible = commits[synced...].prefix(last - synced + 2).map(\.state)
      // The process is killed, or the disk forgets some or all of what was not synced.
      let share = random.next() % 3 * 2
      let disk = MemoryFiles(cut.files(after: prefix) { _ in random.next() % 4 < share })
      let state = try Self.state(try Self.open(disk))
      #expect(possible.contains(state), "seed \(seed), after \(prefix) of \(events.count) accesses")
      if state == commits[last].state { continue }
      if possible.prefix(last - synced).contains(state) { behind += 1 } else { ahead += 1 }
    }
    #expect(ahead > 0, "no commit is on the disk before it is synced")
    #expect(behind > 0, "no page is undone")
  }
}
