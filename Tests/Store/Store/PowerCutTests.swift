import MartletChangeFeed
import MartletJSON
import MartletModels
import MartletSQLite
import MartletStore
import MartletVocabulary
import Testing

/// Power cuts that tear pages: of each write since the last sync any sectors may be on the disk. Whatever is left
/// opens, has everything that was acknowledged, and is sound.
struct PowerCutTests {
  /// What was recorded of a disk, and what had been acknowledged after how many events.
  private struct Recording {
    let files = MemoryFiles()
    var start: [String: [UInt8]]
    var acknowledged: [(events: Int, head: Int64)] = []

    init(_ start: [String: [UInt8]] = [:]) {
      self.start = start
      for (path, bytes) in start { files.put(path, bytes) }
      files.record(true)
    }

    mutating func note(_ fixture: StoreFixture) {
      acknowledged.append((files.eventCount, fixture.store.position.head))
    }
  }

  /// Cuts all over what happened from the first acknowledged write on, and checks what is left.
  private func cutEverywhere(
    _ recording: Recording, seed: UInt64, shapes: [RecordShape] = Models.all, limits: StoreLimits = StoreLimits()
  ) throws {
    let cut = PowerCut(start: recording.start, events: recording.files.events)
    var random = SeededRandom(seed: seed)
    let first = recording.start.isEmpty ? (recording.acknowledged.first?.events ?? 0) : 0
    var torn = 0
    // Enough cuts to reach every phase; each opens a store.
    let cuts = stride(from: first, through: recording.files.eventCount, by: max(1, recording.files.eventCount / 24))
    for (index, count) in cuts.enumerated() {
      let head = recording.acknowledged.last { $0.events <= count }?.head ?? 0
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
      let disk = MemoryFiles(left)
      let fixture = try StoreFixture(files: disk, shapes: shapes, term: 7, limits: limits)
      #expect(fixture.store.position.head > head, "after \(count) events")
      if index % 4 == 0 {
        let report = try Store.check(MemoryFiles(disk.contents))
        #expect(report.findings == [], "after \(count) events")
      }
    }
    #expect(torn > 10, "a cut that tears nothing proves little")
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
      recording.note(fixture)
      for group in 0..<5 {
        try fixture.commit((0..<3).map { create("\(group).\($0)") })
        recording.note(fixture)
      }
    }
    try cutEverywhere(recording, seed: 31, limits: limits)
  }

  @Test func `P17: a power cut during a migration leaves the data from before it or from after it`() throws {
    let before = try StoreFixture()
    try before.commit((0..<20).map { create("\($0)") })
    let old = before.store.position.head
    var recording = Recording(before.files.contents)
    recording.acknowledged.append((0, old))
    var flights = Models.flights
    flights.columns[3].isRequired = true
    flights.columns[3].defaultValue = "A1"
    flights.columns.append(Models.column("note", default: "n"))
    flights.indexes.append(RecordIndex(name: "byGate", fields: [3], isUnique: false))
    let shapes = [flights, Models.legs, Models.mixedShape]
    do {
      let fixture = try StoreFixture(files: recording.files, shapes: shapes, term: 2)
      recording.note(fixture)
      try fixture.commit([create("new")])
      recording.note(fixture)
    }
    try cutEverywhere(recording, seed: 32, shapes: shapes)
  }

  @Test func `P17: a power cut while the log is trimmed leaves a sound log`() throws {
    var limits = StoreLimits()
    limits.logBytes = 600
    limits.forgottenAtOnce = 4
    limits.checkpointPages = 10
    var recording = Recording()
    do {
      let fixture = try StoreFixture(files: recording.files, limits: limits)
      recording.note(fixture)
      for group in 0..<8 {
        try fixture.commit((0..<4).map { create("\(group).\($0)") })
        if group % 3 == 2 {
          fixture.store.maintain()
          fixture.writer.run()
        }
        recording.note(fixture)
      }
      #expect(fixture.store.position.firstRetained > 4)
    }
    try cutEverywhere(recording, seed: 33, limits: limits)
  }
}
