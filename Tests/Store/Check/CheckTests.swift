import Foundation
import MartletChangeFeed
import MartletJSON
import MartletModels
import MartletSQLite
import MartletStore
import MartletVocabulary
import Testing

/// What `martlet check` finds, and that it finds nothing in sound folders.
struct CheckTests {
  /// A store with every kind of entry, and what it is on its disk.
  private func folder(trimmed: Bool = false) throws -> MemoryFiles {
    var limits = StoreLimits()
    if trimmed { limits.logBytes = 300 }
    let fixture = try StoreFixture(limits: limits)
    for id in ["a", "b", "c", "d"] {
      try fixture.commit(.create(model: Models.flight, record: Models.flight(id, code: id)))
    }
    try fixture.commit(
      .batch([
        .update(RecordUpdate(model: Models.flight, key: Models.key("a"), values: [(3, "B1")])),
        .delete(model: Models.flight, key: Models.key("c")),
        .event(topic: "t", payload: 1),
      ]))
    for number in Int64(1)...3 {
      try fixture.commit(
        .create(model: Models.flight, record: Models.flight("n\(number)")), WriteNumber(client: "c", number: number))
    }
    if trimmed {
      for number in 0..<40 { try fixture.commit(.event(topic: "t", payload: .int(Int64(number)))) }
      #expect(fixture.store.position.firstRetained > 10)
      try fixture.commit(.update(RecordUpdate(model: Models.flight, key: Models.key("a"), values: [(3, "B2")])))
    }
    return MemoryFiles(fixture.files.contents)
  }

  @Test func `a sound store is sound, and is made again from a log that is whole`() throws {
    let report = try Store.check(try folder())
    #expect(report.findings == [])
    #expect(report.wasFolded)
    #expect(report.offsets?.lowerBound == 1)
    #expect(report.records == 7)
  }

  @Test func `a store whose log was trimmed is sound, and its records are compared as far as the log goes`() throws {
    let report = try Store.check(try folder(trimmed: true))
    #expect(report.findings == [])
    #expect(!report.wasFolded && report.records >= 1)
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `stores with random writes, migrations and expiry are sound`(seed: UInt64) throws {
    var history = try FoldTests.History(seed: seed)
    for _ in 0..<60 { try history.step() }
    let report = try Store.check(MemoryFiles(history.authority.files.contents))
    #expect(report.findings == [])
    try history.feed()
    #expect(try Store.check(MemoryFiles(history.follower.files.contents)).findings == [])
  }

  @Test func `a folder of format 1 is sound once it has been opened`() throws {
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Fixtures/format-1/store.sqlite")
    let files = MemoryFiles([StoreFormat.databaseName: Array(try Data(contentsOf: source))])
    #expect(throws: StoreError.self) { try Store.check(MemoryFiles(files.contents)) }
    _ = try StoreFixture(files: files, term: 99)
    #expect(try Store.check(MemoryFiles(files.contents)).findings == [])
  }

  struct Damage: Sendable, CustomTestStringConvertible {
    var sql: String
    var part: CheckReport.Part
    /// A part of the finding.
    var words: String
    /// Whether it is found in a trimmed log as well.
    var isAlwaysFound = false
    var testDescription: String { sql }
  }

  static let damages = [
    Damage(sql: "DELETE FROM martlet_log WHERE offset = 5", part: .log, words: "offset 5 is missing"),
    Damage(sql: "DELETE FROM martlet_log WHERE offset < 4", part: .log, words: "offsets 1 to 3 are missing"),
    Damage(
      sql: "DELETE FROM martlet_log WHERE offset <= (SELECT first FROM martlet_horizon)", part: .log,
      words: "is missing from the log", isAlwaysFound: true),
    Damage(
      sql: "UPDATE martlet_log SET entry = x'0200ff' WHERE offset = 5", part: .entry,
      words: "the entry at offset 5 cannot be read"),
    Damage(
      sql: "UPDATE martlet_log SET entry = CAST(replace(CAST(entry AS TEXT), 'JFK', 'LAX') AS BLOB) WHERE offset = 4",
      part: .checksum,
      words: "row 4 is not what was written"),
    Damage(
      sql: "UPDATE martlet_log SET checksum = checksum + 1 WHERE offset = 6", part: .checksum,
      words: "row 6 is not what was written"),
    Damage(sql: "UPDATE martlet_log SET at = 5 WHERE offset = 6", part: .log, words: "time at offset 6"),
    Damage(
      sql: "UPDATE martlet_log SET total = total + 1 WHERE offset = 6", part: .log, words: "sum of bytes at offset 6"),
    Damage(
      sql: "UPDATE martlet_log SET head = 4 WHERE offset = 6", part: .log, words: "group of the entry at offset 6"),
    Damage(
      sql: "DELETE FROM martlet_log WHERE offset = (SELECT max(offset) FROM martlet_log WHERE head < offset)",
      part: .log,
      words: "the log ends within a transaction"),
    Damage(
      sql: "UPDATE record_Flight SET gate = 'Z9' WHERE id = 'a'", part: .records,
      words: "Flight a is not what the log has",
      isAlwaysFound: true),
    Damage(
      sql: "DELETE FROM record_Flight WHERE id = 'a'", part: .records, words: "Flight a is missing", isAlwaysFound: true
    ),
    Damage(sql: "DELETE FROM martlet_tombstones", part: .records, words: "deletion of Flight c"),
    Damage(
      sql: "INSERT INTO record_Flight SELECT 'x', origin, delay, gate, 'x', \"#version\", \"#created\", \"#changed\" "
        + "FROM record_Flight WHERE id = 'a'", part: .records, words: "Flight"),
    Damage(
      sql: "UPDATE record_Flight SET \"#created\" = 1 WHERE id = 'b'", part: .records,
      words: "Flight b is not what the log makes of it"),
    Damage(sql: "DELETE FROM martlet_outcomes WHERE number = 2", part: .records, words: "the outcome of write"),
    Damage(sql: "UPDATE martlet_clients SET acknowledged = 2", part: .records, words: "the"),
    Damage(sql: "UPDATE martlet_lineage SET term = 7", part: .records, words: "cannot be folded again"),
    Damage(sql: "UPDATE martlet_horizon SET clients = 7", part: .records, words: "the horizon"),
    Damage(sql: "UPDATE martlet_fields SET is_required = 1 WHERE name = 'gate'", part: .records, words: "the field"),
  ]

  @Test(arguments: damages) func `each kind of damage is found and named`(damage: Damage) throws {
    let files = try folder()
    try Self.damage(files, damage.sql)
    let report = try Store.check(files)
    #expect(report.findings.contains { $0.part == damage.part && $0.message.contains(damage.words) }, "\(report)")
    guard damage.isAlwaysFound else { return }
    let trimmed = try folder(trimmed: true)
    try Self.damage(trimmed, damage.sql)
    #expect(try Store.check(trimmed).findings.contains { $0.part == damage.part && $0.message.contains(damage.words) })
  }

  @Test func `a trimmed log without its newest entries is found by the records that have them`() throws {
    var limits = StoreLimits()
    limits.logBytes = 300
    let fixture = try StoreFixture(limits: limits)
    for number in 0..<40 {
      fixture.clock.advance(10)
      try fixture.commit(.create(model: Models.flight, record: Models.flight("\(number)")))
    }
    let files = MemoryFiles(fixture.files.contents)
    #expect(try Store.check(files).findings == [])
    try Self.damage(files, "DELETE FROM martlet_log WHERE offset > (SELECT max(offset) - 2 FROM martlet_log)")
    let findings = try Store.check(files).findings
    #expect(findings.contains { $0.part == .records && $0.message.contains("before the newest changes of") })
  }

  private static func damage(_ files: MemoryFiles, _ sql: String) throws {
    let database = try Database(path: StoreFormat.databaseName, on: files)
    try database.execute(sql)
  }

  @Test func `pages of the file that were written over are found`() throws {
    let files = try folder()
    _ = try Database(path: StoreFormat.databaseName, on: files).checkpoint(.truncate)
    let sound = try #require(files.contents(of: StoreFormat.databaseName))
    let pages = sound.count / 4_096
    var found = 0
    for page in 1..<pages {
      var bytes = sound
      for index in 0..<512 { bytes[page * 4_096 + index] ^= 0x5A }
      let report = try? Store.check(MemoryFiles([StoreFormat.databaseName: bytes]))
      // A file that cannot even be opened is refused with an error.
      if report?.isSound != true { found += 1 }
    }
    #expect(pages > 10 && found == pages - 1)
  }

  @Test func `a backup of a damaged store is refused, whether or not a process has it open`() throws {
    let folder = FolderTests.Temporary()
    defer { withExtendedLifetime(folder) {} }
    let path = folder.path + "/data"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    for (name, bytes) in try self.folder().contents {
      try Data(bytes).write(to: URL(fileURLWithPath: path + "/" + name))
    }
    let scratch = folder.path + "/scratch"
    try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true)
    #expect(try Store.check(folder: path, scratch: scratch).wasFolded)
    try FolderBackup.copy(path, to: folder.path + "/copy") {}
    try Database(path: path + "/" + StoreFormat.databaseName).execute("DELETE FROM martlet_log WHERE offset = 5")
    let error = #expect(throws: StoreError.self) { try FolderBackup.copy(path, to: folder.path + "/other") {} }
    #expect(error?.code == .damaged && error?.message.contains("offset 5 is missing") == true)
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/other"))
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/other.partial"))
    let store = try Store(
      .folder(folder.path + "/copy"), shapes: Models.all, options: StoreOptions(term: 9, clock: ManualClock().clock))
    let locked = #expect(throws: StoreError.self) {
      try Store.check(folder: folder.path + "/copy", scratch: scratch)
    }
    #expect(locked?.code == .locked)
    store.close()
  }
}
