import Foundation
import MartletServer
import Testing

/// `martlet check` as a process: exit codes and messages on sound folders, on damaged ones of each kind, and where
/// there is nothing to check.
@Suite(.timeLimit(.minutes(1))) struct CheckCommandTests {
  /// Changes copies of a folder as a failing disk would.
  private static let damaging = """
    cat > damage.py <<'END'
    import os, shutil, sqlite3, sys
    name, what = sys.argv[1:3]
    shutil.copytree("data", name)
    path = os.path.join(name, "store.sqlite")
    database = sqlite3.connect(path)
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    size = database.execute("PRAGMA page_size").fetchone()[0]
    if what.startswith("page of "):
        page = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (what[8:],)).fetchone()[0]
    elif what == "first page":
        page = 1
    else:
        assert database.execute(what).rowcount == 1, what
        database.commit()
        page = None
    database.close()
    if page:
        with open(path, "r+b") as file:
            file.seek((page - 1) * size)
            file.write(b"\\x5a" * 512)
    END
    check() { martlet check "$@" 2>&1; echo "= $?"; }
    """

  /// A folder with three records and a deletion, in `data` below the returned one.
  private static func folder() async throws -> (folder: URL, server: GraphQLServer) {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var configuration = ServerConfiguration(schema: "type T @model { id: ID! n: Int }")
    configuration.access = .development
    configuration.log = .silent
    configuration.loops = 1
    configuration.data = .folder(folder.appendingPathComponent("data").path)
    let server = try GraphQLServer(configuration)
    try server.start()
    for (number, id) in ["a", "b", "c"].enumerated() {
      try await server.transaction { try $0.create("T", ["id": .string(id), "n": .int(Int64(number))]) }
    }
    try await server.transaction { try $0.delete("T", ["id": "c"]) }
    return (folder, server)
  }

  @Test func `a sound folder ends with 0, a damaged one with 1 and what is damaged, in each kind`() async throws {
    let (folder, server) = try await Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    await server.stop()
    let run = try await ShellRun.bash(
      Self.damaging + """

        # All but SQLite's index of the write-ahead log, which every process makes anew.
        find data -type f -not -name '*-shm' -print0 | sort -z | xargs -0 sha256sum > before
        check data
        find data -type f -not -name '*-shm' -print0 | sort -z | xargs -0 sha256sum | diff before - && echo unchanged
        damage() { python3 damage.py "$1" "$2" && check "$1"; }
        damage entry "UPDATE martlet_log SET entry = x'0200ff' WHERE offset = 5"
        damage checksum "UPDATE martlet_log SET checksum = checksum + 1 WHERE offset = 5"
        damage row "UPDATE record_T SET n = 7 WHERE id = 'a'"
        damage gone "DELETE FROM record_T WHERE id = 'a'"
        damage more "INSERT INTO record_T SELECT 'x', n, \\"createdAt\\", \\"updatedAt\\", \\"#version\\", \\"#created\\", \\"#changed\\" FROM record_T WHERE id = 'a'"
        damage tombstone "DELETE FROM martlet_tombstones"
        damage offset "DELETE FROM martlet_log WHERE offset = 4"
        damage page "page of martlet_log"
        damage records "page of record_T"
        """, in: folder)
    #expect(run.errors == "", "\(run.errors)")
    let parts = run.output.components(separatedBy: "\n= ")
    let words: [(status: String, words: [String])] = [
      ("0", ["data is sound: entries 1 to ", "all tables are what the log makes"]),
      ("1", ["entry: the entry at offset 5 cannot be read", "entry is damaged."]),
      ("1", ["checksum: the log's row 5 is not what was written", "checksum is damaged."]),
      ("1", ["records: T a is not what the log has at offset ", "row is damaged."]),
      ("1", ["records: T a is missing, which the log has at offset ", "gone is damaged."]),
      ("1", ["records: ", "more is damaged."]), ("1", ["records: ", "T c", "tombstone is damaged."]),
      ("1", ["log: offset 4 is missing from the log", "offset is damaged."]),
      ("1", ["database: ", "page is damaged."]), ("1", ["database: ", "records is damaged."]),
    ]
    try #require(parts.count == words.count + 1, "\(run.output)")
    for (index, wanted) in words.enumerated() {
      for word in wanted.words { #expect(parts[index].contains(word), "\(index): \(run.output)") }
      #expect(parts[index + 1].hasPrefix(wanted.status + "\n"), "\(index): \(run.output)")
    }
    #expect(run.output.contains("\nunchanged\n"))
  }

  @Test func `what cannot be checked ends with 74 and the reason, a wrong call with 64`() async throws {
    let (folder, server) = try await Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let used = try await ShellRun.bash(Self.damaging + "\ncheck data", in: folder)
    #expect(used.output.contains("stop the server, or check a copy made by 'martlet backup'."))
    #expect(used.output.hasSuffix("= 74\n"), "\(used.output)")
    await server.stop()
    let run = try await ShellRun.bash(
      Self.damaging + """

        mkdir empty
        check nowhere
        check empty
        python3 damage.py first "first page" && check first
        check
        check data data
        """, in: folder)
    #expect(run.errors == "", "\(run.errors)")
    let parts = run.output.components(separatedBy: "\n= ")
    try #require(parts.count == 6, "\(run.output)")
    let words = [
      "nowhere could not be checked: there is no store at ", "empty could not be checked: there is no store at ",
      "first could not be checked: ", "DATA", "data",
    ]
    for (index, (word, status)) in zip(words, ["74", "74", "74", "64", "64"]).enumerated() {
      #expect(parts[index].contains(word), "\(index): \(run.output)")
      #expect(parts[index + 1].hasPrefix(status + "\n"), "\(index): \(run.output)")
    }
  }
}
