import MartletPowerCut
import MartletSQLite
import MartletVocabulary
import Testing

@Suite struct MemoryFilesTests {
  @Test func `a database outlives its connection and can be copied by its bytes`() throws {
    let files = MemoryFiles()
    try Database(path: "a.db", on: files).execute("CREATE TABLE t(n INTEGER) STRICT; INSERT INTO t VALUES(7)")
    let copy = MemoryFiles(files.contents)
    let database = try Database(path: "a.db", on: copy)
    let select = try database.statement("SELECT n FROM t")
    #expect(try select.step())
    #expect(select.int64(0) == 7)
  }

  @Test func `a failed sync fails the commit`() throws {
    let files = MemoryFiles()
    let database = try Database(path: "a.db", on: files)
    try database.execute("CREATE TABLE t(n INTEGER) STRICT")
    files.failSync(afterSuccesses: 0)
    let error = try #require(throws: SQLiteError.self) { try database.execute("INSERT INTO t VALUES(1)") }
    #expect(error.code == .inputOutput)
  }

  @Test func `a full disk refuses and takes writes again when there is room`() throws {
    let files = MemoryFiles()
    let database = try Database(path: "a.db", on: files)
    try database.execute("CREATE TABLE t(b BLOB) STRICT")
    files.setCapacity(files.totalBytes + 1_000)
    let error = try #require(throws: SQLiteError.self) {
      try database.execute("INSERT INTO t VALUES(zeroblob(100000))")
    }
    #expect(error.code == .diskFull)
    files.setCapacity(nil)
    try database.execute("INSERT INTO t VALUES(zeroblob(100000))")
  }

  @Test func `after a power cut anywhere every committed row is there`() throws {
    let files = MemoryFiles()
    files.record(true)
    var durable: [(events: Int, rows: Int64)] = []
    do {
      let database = try Database(path: "a.db", on: files)
      try database.execute("CREATE TABLE t(n INTEGER) STRICT")
      for number in 1...6 {
        try database.execute("INSERT INTO t VALUES(\(number))")
        durable.append((files.eventCount, Int64(number)))
        if number == 3 { _ = try database.checkpoint() }
      }
    }
    let events = files.events
    let cut = PowerCut(events: events)
    var random = SeededRandom(seed: 1)
    let first = try #require(durable.first).events
    for prefix in first...events.count {
      let expected = try #require(durable.last { $0.events <= prefix }).rows
      for _ in 0..<3 {
        let disk = MemoryFiles(cut.files(after: prefix) { _ in Bool.random(using: &random) })
        let database = try Database(path: "a.db", on: disk)
        let count = try database.statement("SELECT count(*) FROM t")
        #expect(try count.step())
        #expect(count.int64(0) >= expected)
      }
    }
  }
}
