import Foundation
import MartletDataStore
import MartletSQLite
import Testing

/// What other programs find in a store's file.
@Suite struct StoreFileTests {
  /// One that changes nothing of the file, its journal's mode included.
  private static func reader(_ path: String) throws -> Database {
    var options = Database.Options()
    options.isReadOnly = true
    return try Database(path: path, options: options)
  }

  /// The first column of each row.
  private static func texts(_ sql: String, _ path: String) throws -> [String] {
    let statement = try reader(path).prepare(sql)
    var found: [String] = []
    while try statement.step() { found.append(statement.text(0)) }
    return found
  }

  @Test func `a field has no column, an index is missing, or a constraint can refuse the server's rows`()
    async throws
  {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("store.sqlite").path
    let store = try DataStore(models: Library.models + [Post.self, Seat.self], storage: .file(path))
    try await store.save(Library.author("a"))
    try await store.save(Library.book("b", of: "a", pages: 7))
    try await store.save(Profile(id: "p", text: "x", author: LazyReference(id: "a")))
    var rated = post(1, "one", rating: 2.5)
    rated.tags = ["a", "b"]
    rated.status = .draft
    try await store.save(rated)
    try await store.save(Seat(row: "A", number: .init(3), isTaken: true))
    #expect(try Self.texts("PRAGMA journal_mode", path) == ["wal"])
    // Values as SQL has them, in columns with the fields' names.
    let row = "SELECT id || title || typeof(rating) || rating || status || tags FROM record_Post"
    #expect(try Self.texts(row, path) == [#"p1onereal2.5draft["a","b"]"#])
    let seat = "SELECT \"row\" || typeof(number) || number || isTaken FROM record_Seat"
    #expect(try Self.texts(seat, path) == ["Ainteger31"])
    #expect(try Self.texts("SELECT title || pages || authorID FROM record_Book", path) == ["title b7a"])
    // An index that is declared, and one for each reference.
    let plan = "EXPLAIN QUERY PLAN SELECT * FROM record_Book WHERE pages = 7"
    let names = "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'record_Book' ORDER BY name"
    #expect(try Self.texts(names, path).contains("index_Book_byPages"))
    #expect(try Self.texts(names, path).contains("index_Book_#relation_authorID"))
    let steps = try Self.reader(path).prepare(plan)
    #expect(try steps.step() && steps.text(3).contains("index_Book_byPages"))
    // What local writes may not do is checked by the store alone.
    let models = ["Author", "Profile", "Book", "Chapter", "Shelf", "ShelfItem", "ShelfGuard", "Post", "Seat"]
    for model in models {
      #expect(try Self.texts("SELECT name FROM pragma_table_info('record_\(model)')", path).contains("#version"))
      #expect(try Self.texts("SELECT \"table\" FROM pragma_foreign_key_list('record_\(model)')", path).isEmpty)
      let unique = "SELECT name FROM pragma_index_list('record_\(model)') WHERE \"unique\" = 1 AND origin <> 'pk'"
      #expect(try Self.texts(unique, path).isEmpty, "\(model)")
    }
  }
}
