import MartletChangeFeed
import MartletJSON
import MartletModels
import MartletPowerCut
import MartletSQLite
import MartletStore
import MartletVocabulary
import Testing

/// Power cuts that tear pages: of each write since the last sync any sectors may be on the disk. Whatever is left is
/// sound, has everything that was acknowledged and nothing that was never written, and opens.
///
/// That a broken store would be found is shown in two ways. Each recording is also cut as if the store had not synced
/// one of its files, and as if it had acknowledged its groups before their sync: `Fault`. And defects were planted in
/// the store by hand, which made the tests red; `docs/TESTING.md` lists them.
struct PowerCutTests {
  /// What was recorded of a disk, and what had been acknowledged after how many events.
  private struct Recording {
    let files = MemoryFiles()
    var start: [String: [UInt8]]
    var acknowledged: [(events: Int, head: Int64)] = []
    /// The running checksum after each offset that was ever in the log.
    var written: [Int64: Int64] = [:]

    init(_ start: [String: [UInt8]] = [:]) {
      self.start = start
      for (path, bytes) in start { files.put(path, bytes) }
      files.record(true)
    }

    mutating func note(_ fixture: StoreFixture) throws {
      acknowledged.append((files.eventCount, fixture.store.position.head))
      written.merge(try PowerCutTests.log(files.contents)) { $1 }
    }
  }

  /// What a broken store would do, made from the recording of a whole one.
  enum Fault: CaseIterable {
    /// A commit does not sync the write-ahead log.
    case unsyncedLog
    /// A checkpoint does not sync the database before the write-ahead log starts over.
    case unsyncedDatabase
    /// A group is acknowledged before the sync of its commit.
    case earlyAcknowledgement

    func events(_ events: [FileEvent]) -> [FileEvent] {
      switch self {
      case .unsyncedLog: events.filter { !Self.isSync($0, isLog: true) }
      case .unsyncedDatabase: events.filter { !Self.isSync($0, isLog: false) }
      case .earlyAcknowledgement: events
      }
    }

    /// How many events had happened when the broken store acknowledged what a whole one acknowledged after `count`.
    func acknowledged(_ count: Int, _ events: [FileEvent]) -> Int {
      switch self {
      case .unsyncedLog: events.prefix(count).count { !Self.isSync($0, isLog: true) }
      case .unsyncedDatabase: events.prefix(count).count { !Self.isSync($0, isLog: false) }
      case .earlyAcknowledgement: events.prefix(count).lastIndex { Self.isSync($0, isLog: true) } ?? count
      }
    }

    private static func isSync(_ event: FileEvent, isLog: Bool) -> Bool {
      guard case .sync(let path) = event else { return false }
      return path.hasSuffix("-wal") == isLog
    }
  }

  /// The running checksum after each offset of the log on a disk.
  private static func log(_ contents: [String: [UInt8]]) throws -> [Int64: Int64] {
    var settings = Database.Options()
    settings.isReadOnly = true
    let database = try Database(path: StoreFormat.databaseName, on: MemoryFiles(contents), options: settings)
    let rows = try database.prepare("SELECT offset, checksum FROM martlet_log")
    var log: [Int64: Int64] = [:]
    while try rows.step() { log[rows.int64(0)] = rows.int64(1) }
    return log
  }

  /// Cuts all over what happened from the first acknowledged write on; returns what is wrong with what is left.
  private func cutEverywhere(
    _ recording: Recording, seed: UInt64, shapes: [RecordShape] = Models.all, limits: StoreLimits = StoreLimits(),
    fault: Fault? = nil
  ) throws -> [String] {
    let recorded = recording.files.events
    let events = fault?.events(recorded) ?? recorded
    let acknowledged = recording.acknowledged.map { note in
      (events: fault?.acknowledged(note.events, recorded) ?? note.events, head: note.head)
    }
    let cut = PowerCut(start: recording.start, events: events)
    var random = SeededRandom(seed: seed)
    let first = recording.start.isEmpty ? (acknowledged.first?.events ?? 0) : 0
    var torn = 0
    var findings: [String] = []
    // Enough cuts to reach every phase; each opens a store.
    for (index, count) in stride(from: first, through: events.count, by: max(1, events.count / 24)).enumerated() {
      let head = acknowledged.last { $0.events <= count }?.head ?? 0
      let share = Int.random(in: 0...4, using: &random)
      let left = cut.files(after: count) { _ -> PowerCut.Remains in
        switch Int.random(in: 0..<3, using: &random) {
        case 0: return Int.random(in: 0..<4, using: &random) < share ? .everything : .nothing
        default:
          torn += 1
          let pattern = UInt64.random(in: 0...UInt64.max, using: &random)
          return .sectors { number in (pattern >> UInt64(number % 64)) & 1 == 1 }
        }
      }
      do {
        let log = try Self.log(left)
        let last = log.keys.max() ?? 0
        if last < head {
          findings.append("after \(count) events the log ends at \(last), and \(head) was acknowledged")
        }
        for (offset, checksum) in log where recording.written[offset] != checksum {
          findings.append("after \(count) events the log has something else at \(offset)")
        }
        if fault != nil || index % 3 == 1 {
          findings += try Store.check(MemoryFiles(left)).findings.map { "after \(count) events: \($0.message)" }
        }
        // One finding is what a fault has to lead to.
        if fault != nil, !findings.isEmpty { return findings }
        let disk = MemoryFiles(left)
        let fixture = try StoreFixture(files: disk, shapes: shapes, term: 7, limits: limits)
        #expect(fixture.store.position.head > last)
        guard index % 4 == 0 else { continue }
        findings += try Store.check(MemoryFiles(disk.contents)).findings.map { "opened after \(count): \($0.message)" }
      } catch {
        findings.append("after \(count) events: \(error)")
      }
    }
    #expect(torn > 10, "a cut that tears nothing proves little")
    return findings
  }

  /// Expects that nothing is wrong after any cut, and that something would be with each fault.
  private func expectSound(
    _ recording: Recording, seed: UInt64, shapes: [RecordShape] = Models.all, limits: StoreLimits = StoreLimits(),
    besides faults: [Fault] = Fault.allCases
  ) throws {
    #expect(try cutEverywhere(recording, seed: seed, shapes: shapes, limits: limits) == [])
    for fault in faults {
      let findings = try cutEverywhere(recording, seed: seed, shapes: shapes, limits: limits, fault: fault)
      #expect(!findings.isEmpty, "\(fault) would not be found")
    }
  }

  private func create(_ id: String) -> WriteRequest {
    WriteRequest(.create(model: Models.flight, record: Models.flight(id)))
  }

  @Test func `P17: torn pages lose nothing that was acknowledged, with checkpoints under way`() throws {
    var limits = StoreLimits()
    limits.checkpointPages = 10
    var recording = Recording()
    do {
      let fixture = try StoreFixture(files: recording.files, limits: limits)
      try recording.note(fixture)
      for group in 0..<5 {
        try fixture.commit((0..<3).map { create("\(group).\($0)") })
        try recording.note(fixture)
      }
    }
    try expectSound(recording, seed: 31, limits: limits)
  }

  @Test func `P17: a power cut during a migration leaves the data from before it or from after it`() throws {
    let before = try StoreFixture()
    try before.commit((0..<20).map { create("\($0)") })
    let old = before.store.position.head
    var recording = Recording(before.files.contents)
    recording.acknowledged.append((0, old))
    recording.written = try Self.log(recording.start)
    var flights = Models.flights
    flights.columns[3].isRequired = true
    flights.columns[3].defaultValue = "A1"
    flights.columns.append(Models.column("note", default: "n"))
    flights.indexes.append(RecordIndex(name: "byGate", fields: [3], isUnique: false))
    let shapes = [flights, Models.legs, Models.mixedShape]
    do {
      let fixture = try StoreFixture(files: recording.files, shapes: shapes, term: 2)
      try recording.note(fixture)
      try fixture.commit([create("new")])
      try recording.note(fixture)
    }
    // Without a checkpoint the database itself is not written.
    try expectSound(recording, seed: 32, shapes: shapes, besides: [.unsyncedLog, .earlyAcknowledgement])
  }

  @Test func `P17: a power cut while the log is trimmed leaves a sound log`() throws {
    var limits = StoreLimits()
    limits.logBytes = 600
    limits.forgottenAtOnce = 4
    limits.checkpointPages = 10
    var recording = Recording()
    do {
      let fixture = try StoreFixture(files: recording.files, limits: limits)
      try recording.note(fixture)
      for group in 0..<8 {
        // A record that each group changes shows whether records and log are of one commit.
        let update = RecordUpdate(
          model: Models.flight, key: Models.key("0.0"), values: [(3, .string("G\(group)"))])
        try fixture.commit((0..<4).map { create("\(group).\($0)") } + [WriteRequest(.update(update))])
        if group % 3 == 2 {
          fixture.store.maintain()
          fixture.writer.run()
        }
        try recording.note(fixture)
      }
      #expect(fixture.store.position.firstRetained > 4)
    }
    try expectSound(recording, seed: 33, limits: limits)
  }

  @Test func `P17: a power cut between the slices of a large write leaves all of it or nothing`() throws {
    var limits = StoreLimits()
    (limits.smallWrite, limits.wholeWrite, limits.stagedRows) = (2, 4, 4)
    (limits.groupsBeforeLarge, limits.checkpointPages) = (0, 10)
    var recording = Recording()
    do {
      let fixture = try StoreFixture(files: recording.files, limits: limits)
      try recording.note(fixture)
      for group in 0..<3 {
        let whole = WriteOperation.batch(
          (0..<20).map { .create(model: Models.flight, record: Models.flight("large \(group).\($0)")) })
        fixture.store.commit(WriteRequest(fixture.store.drafted(whole))) { _ in }
        for turn in 0..<4 {
          fixture.store.commit(create("\(group).\(turn)")) { _ in }
          fixture.writer.runOnce()
          try recording.note(fixture)
        }
        #expect(try fixture.rows("martlet_staging WHERE state = 1") == 1)
        for _ in 0..<4 {
          fixture.writer.runOnce()
          try recording.note(fixture)
        }
        #expect(try fixture.isWaitingForRows)
        fixture.writer.run()
        try recording.note(fixture)
      }
      #expect(try fixture.rows("record_Flight") == 72)
    }
    try expectSound(recording, seed: 34, limits: limits)
  }
}
