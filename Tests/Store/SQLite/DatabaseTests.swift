import MartletSQLite
import Testing

@Suite struct DatabaseTests {
  private func table() throws -> Database {
    let database = try Database(path: "test.db", on: MemoryFiles())
    try database.execute("CREATE TABLE t(k TEXT PRIMARY KEY, n INTEGER, r REAL, b BLOB) STRICT")
    return database
  }

  @Test func `values come back as they were bound`() throws {
    let database = try table()
    let insert = try database.statement("INSERT INTO t VALUES(?, ?, ?, ?)")
    try insert.bind(1, text: "a\0b😀")
    try insert.bind(2, Int64.min)
    try insert.bind(3, 0.1)
    try insert.bind(4, blob: [0, 255, 7])
    try insert.run()
    #expect(database.changes == 1)
    let select = try database.statement("SELECT k, n, r, b, NULL FROM t")
    #expect(try select.step())
    #expect(Array(select.text(0).utf8) == Array("a\0b😀".utf8))
    #expect(select.int64(1) == .min)
    #expect(select.double(2) == 0.1)
    #expect(select.bytes(3) == [0, 255, 7])
    #expect(select.isNull(4))
    #expect(select.type(0) == .text)
    #expect(try !select.step())
  }

  @Test func `empty text and an empty blob are not null`() throws {
    let database = try table()
    let insert = try database.statement("INSERT INTO t(k, b) VALUES(?, ?)")
    try insert.bind(1, text: "")
    try insert.bind(2, blob: [])
    try insert.run()
    let select = try database.statement("SELECT k, b FROM t")
    #expect(try select.step())
    #expect(select.type(0) == .text)
    #expect(select.type(1) == .blob)
  }

  @Test func `large values that were bound are let go after the transaction, small ones stay bound`() throws {
    let database = try table()
    let cached = try database.statement("INSERT INTO t(k, n, b) VALUES(?, 1, ?)")
    let own = try database.prepare("INSERT INTO t(k, n, b) VALUES(?, 2, ?)")
    let small = try database.statement("SELECT ?")
    try small.bind(1, text: "kept")
    let before = database.statementBytes
    for (statement, key) in [(cached, "a"), (own, "b")] {
      try statement.bind(1, text: key)
      try statement.bind(2, blob: Array(repeating: 7, count: 200_000))
      try statement.run()
    }
    #expect(database.statementBytes - before > 400_000)
    database.releaseLargeValues()
    #expect(database.statementBytes - before < 1_000)
    #expect(try small.step())
    #expect(small.text(0) == "kept")
    let lengths = try database.statement("SELECT sum(length(b)) FROM t")
    #expect(try lengths.step())
    #expect(lengths.int64(0) == 400_000)
  }

  @Test func `a failure carries code, message and statement`() throws {
    let database = try table()
    try database.execute("INSERT INTO t(k) VALUES('a')")
    let insert = try database.statement("INSERT INTO t(k) VALUES(?)")
    try insert.bind(1, text: "a")
    let error = try #require(throws: SQLiteError.self) { try insert.run() }
    #expect(error.code == .unique)
    #expect(error.message == "UNIQUE constraint failed: t.k")
    #expect(error.statement == "INSERT INTO t(k) VALUES(?)")
    #expect(throws: SQLiteError.self) { try database.statement("SELEKT") }
  }

  @Test func `a misspelt column in double quotes is an error`() throws {
    let database = try table()
    #expect(throws: SQLiteError.self) { try database.statement("SELECT \"nonsense\" FROM t") }
  }

  @Test func `statements are compiled once and counted`() throws {
    let database = try table()
    let first = try database.statement("SELECT 1")
    let second = try database.statement("SELECT 1")
    #expect(first === second)
    let before = database.startedStatements
    try second.run()
    try second.run()
    #expect(database.startedStatements - before == 2)
  }

  @Test func `a deadline interrupts a long statement and nothing after it`() throws {
    let database = try table()
    var asked = 0
    let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
    let error = try #require(throws: SQLiteError.self) {
      try database.withDeadline({
        asked += 1
        return asked > 3
      }) { try database.statement(endless).run() }
    }
    #expect(error.code == .interrupted)
    try database.statement("SELECT count(*) FROM t").run()
  }

  @Test func `a reader keeps its snapshot while the writer commits`() throws {
    let files = MemoryFiles()
    let writer = try Database(path: "test.db", on: files)
    try writer.execute("CREATE TABLE t(n INTEGER) STRICT; INSERT INTO t VALUES(1)")
    var options = Database.Options()
    options.isReadOnly = true
    let reader = try Database(path: "test.db", on: files, options: options)
    try reader.execute("BEGIN")
    let count = try reader.statement("SELECT count(*) FROM t")
    #expect(try count.step())
    #expect(count.int64(0) == 1)
    count.reset()
    try writer.execute("INSERT INTO t VALUES(2)")
    #expect(try count.step())
    #expect(count.int64(0) == 1)
    count.reset()
    try reader.execute("COMMIT")
    #expect(try count.step())
    #expect(count.int64(0) == 2)
    #expect(throws: SQLiteError.self) { try reader.execute("INSERT INTO t VALUES(3)") }
  }

  @Test func `a copy has everything committed before it`() throws {
    let source = try table()
    try source.execute("INSERT INTO t(k) VALUES('a'), ('b')")
    let target = try Database(path: "copy.db", on: MemoryFiles())
    try source.backup(into: target)
    let count = try target.statement("SELECT count(*) FROM t")
    #expect(try count.step())
    #expect(count.int64(0) == 2)
  }

  @Test func `checkpoints move the log into the file only when asked`() throws {
    let database = try table()
    for number in 0..<50 { try database.execute("INSERT INTO t(k) VALUES('\(number)')") }
    let done = try database.checkpoint()
    #expect(done.logPages > 50)
    #expect(done.movedPages == done.logPages)
  }
}
