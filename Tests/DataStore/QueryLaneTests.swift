import Dispatch
import Foundation
import MartletDataStore
import MartletJSON
import MartletStore
import Testing

/// Queries while the store's own thread is in a transaction.
@Suite(.timeLimit(.minutes(1))) struct QueryLaneTests {
  private static func withFile(_ body: (String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder.appendingPathComponent("store.sqlite").path)
  }

  /// Runs `body` while a transaction of the store has saved `author` and does not end.
  private static func during(
    _ author: Author, in store: DataStore, _ body: () async throws -> Void
  ) async throws {
    let (begun, begins) = AsyncStream.makeStream(of: Void.self)
    let end = DispatchSemaphore(value: 0)
    let transaction = Task {
      try await store.transaction { transaction in
        try transaction.save(author)
        begins.finish()
        end.wait()
      }
    }
    for await _ in begun {}
    do { try await body() } catch {
      end.signal()
      throw error
    }
    end.signal()
    try await transaction.value
  }

  @Test func `a query, a relation and an aggregate do not wait for a transaction of their store`() async throws {
    try await Self.withFile { path in
      let store = try DataStore(models: Library.models, storage: .file(path))
      let author = try await store.save(Library.author("a"))
      let book = try await store.save(Library.book("b", of: "a"))
      try await store.save(Chapter(number: 1, part: "I", words: 10, book: book))
      try await Self.during(Library.author("late"), in: store) {
        #expect(try await store.query(Author.self).map(\.id) == ["a"])
        #expect(try await store.query(Author.self, byId: "late") == nil)
        #expect(try await book.author.get()?.id == "a")
        try await author.books.fetch()
        #expect(author.books.map(\.id) == ["b"])
        #expect(try await store.query(Chapter.self).first?.book?.id == "b")
        #expect(try await store.aggregate([.count], of: Author.self) == [1])
      }
      #expect(try await store.query(Author.self).map(\.id) == ["a", "late"])
    }
  }

  @Test func `a query sees every write that has returned, while later ones run`() async throws {
    try await Self.withFile { path in
      let store = try DataStore(models: Library.models, storage: .file(path))
      for number in 1...5 {
        try await store.save(Library.author("a\(number)"))
        try await Self.during(Library.author("late"), in: store) {
          let found = try await store.query(Author.self).map(\.id)
          #expect(found.filter { $0 != "late" } == (1...number).map { "a\($0)" })
        }
      }
    }
  }

  @Test func `a reader whose tables are others gives nothing, so that the store's thread is asked`() async throws {
    try await Self.withFile { path in
      func shape(_ fields: [String]) -> RecordShape {
        let columns = fields.map {
          RecordColumn(
            name: $0, field: $0, storage: .text, signature: "String", isRequired: $0 == "id", defaultValue: .null)
        }
        return RecordShape(
          model: 0, name: "Thing", tableName: "Thing", columns: columns, key: [0], indexes: [], cascades: [])
      }
      let writer = try ClientWriter(path: path, shapes: [shape(["id"])], syncs: false)
      let reader = try ClientReader(path: path, key: nil, writer.layout)
      #expect(try reader.reading { _ in true } == true)
      _ = try ClientWriter(path: path, shapes: [shape(["id", "text"])], syncs: false)
      #expect(try reader.reading { _ in true } == nil)
    }
  }
}
