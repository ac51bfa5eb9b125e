import Foundation
import MartletDataStore
import MartletRuntime
import Testing

/// A store that is open while another process, here another store on the file, changes its models.
@Suite(.timeLimit(.minutes(1))) struct ChangedModelsTests {
  private enum Early {
    struct Note: Model, Equatable {
      var id: String
      var text: String
      enum CodingKeys: String, ModelKey { case id, text }
    }
  }
  private enum Late {
    struct Note: Model, Equatable {
      var id: String
      var rank: Int?
      var text: String
      enum CodingKeys: String, ModelKey { case id, rank, text }
    }
  }
  private enum Other {
    struct Note: Model, Equatable {
      var id: String
      var rank: Int?
      enum CodingKeys: String, ModelKey { case id, rank }
    }
  }

  private func withFile(_ body: (DataStoreStorage) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(.file(folder.appendingPathComponent("store.sqlite").path))
  }

  @Test func `P2: a process that lacks a field takes its value from a record, or its streams end`() async throws {
    try await withFile { storage in
      let early = try DataStore(models: [Early.Note.self], storage: storage)
      try await early.save(Early.Note(id: "a", text: "one"))
      let observed = early.observe(Early.Note.self)
      try await observed.ready()
      var events = observed.makeAsyncIterator()
      var seen = early.observeQuery(for: Early.Note.self, sort: .ascending(Early.Note.keys.id)).makeAsyncIterator()
      #expect(try await seen.next()?.items.count == 1)
      let late = try DataStore(models: [Late.Note.self], storage: storage)
      let note = Late.Note.keys
      var ranked = late.observeQuery(for: Late.Note.self, where: note.rank > 3).makeAsyncIterator()
      #expect(try await ranked.next()?.items.isEmpty == true)
      try await late.save(Late.Note(id: "b", rank: 4, text: "two"))
      #expect(try await ranked.next()?.items.map(\.text) == ["two"])
      #expect(try await events.next()?.modelId == "b")
      #expect(try await seen.next()?.items.map(\.text) == ["one", "two"])
      try await early.save(Early.Note(id: "b", text: "changed"))
      #expect(try await late.query(Late.Note.self, byId: "b") == Late.Note(id: "b", rank: 4, text: "changed"))
      #expect(try await ranked.next()?.items.map(\.text) == ["changed"])
    }
  }

  @Test func `a process whose fields are gone gets raw errors of the file, or waits for ever`() async throws {
    try await withFile { storage in
      let early = try DataStore(models: [Early.Note.self], storage: storage)
      try await early.save(Early.Note(id: "a", text: "one"))
      let observed = early.observe(Early.Note.self)
      try await observed.ready()
      var events = observed.makeAsyncIterator()
      var seen = early.observeQuery(for: Early.Note.self).makeAsyncIterator()
      #expect(try await seen.next()?.items.count == 1)
      let other = try DataStore(models: [Other.Note.self], storage: storage)
      try await other.save(Other.Note(id: "d", rank: 1))
      await expectMigration { _ = try await seen.next() }
      await expectMigration { _ = try await events.next() }
      await expectMigration { _ = try await early.query(Early.Note.self) }
      await expectMigration { _ = try await early.query(Early.Note.self, byId: "a") }
      await expectMigration { _ = try await early.query(Early.Note.self, where: Early.Note.keys.text == "one") }
      await expectMigration { _ = try await early.save(Early.Note(id: "e", text: "x")) }
      await expectMigration { try await early.delete(Early.Note.self, withId: "a") }
      await expectMigration { try await early.clear() }
      var again = early.observeQuery(for: Early.Note.self).makeAsyncIterator()
      await expectMigration { _ = try await again.next() }
      #expect(try await other.query(Other.Note.self).map(\.id) == ["a", "d"])
    }
  }

  private func expectMigration(_ body: () async throws -> Void) async {
    do {
      try await body()
      Issue.record("there was no error")
    } catch {
      #expect((error as? DataStoreError)?.code == .migration, "\(error)")
    }
  }
}
