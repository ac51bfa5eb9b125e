import Foundation
import MartletDataStore
import MartletTestSupport
import Testing

/// The record that `martlet-lab share` stores.
private struct SharedNote: Model, Equatable {
  var id: String
  var text: String
  enum CodingKeys: String, ModelKey { case id, text }
}

@Suite struct ProcessTests {
  private static func withFolder(_ body: (String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder.appendingPathComponent("store.sqlite").path)
  }

  @Test func `every process on a store sees what any of them saves, in queries and streams`() async throws {
    try await Self.withFolder { path in
      let store = try DataStore(models: [SharedNote.self], storage: .file(path))
      let other = try await SharingProcess(path)
      let third = try await SharingProcess(path)
      var snapshots = store.observeQuery(for: SharedNote.self).makeAsyncIterator()
      let observed = store.observe(SharedNote.self)
      try await observed.ready()
      #expect(try await snapshots.next()?.items.isEmpty == true)
      try other.tell("watch")
      try await other.expect("notes")
      try third.tell("save b from the third")
      try await third.expect("saved b")
      try await other.expect("notes b")
      #expect(try await snapshots.next()?.items.map(\.id) == ["b"])
      try await store.save(SharedNote(id: "a", text: "mine"))
      try await other.expect("notes a b")
      #expect(try await snapshots.next()?.items.map(\.id) == ["a", "b"])
      try other.tell("delete b")
      try await other.expect("deleted b")
      #expect(try await snapshots.next()?.items.map(\.id) == ["a"])
      var events = observed.makeAsyncIterator()
      var found: [String] = []
      for _ in 0..<3 {
        let event = try #require(try await events.next())
        found.append("\(event.mutationType) \(event.modelId)")
      }
      #expect(found == ["create b", "create a", "delete b"])
    }
  }

  @Test func `what another process saves while a store is stopped comes once the store is started, each change once`()
    async throws
  {
    try await Self.withFolder { path in
      let store = try DataStore(models: [SharedNote.self], storage: .file(path))
      let other = try await SharingProcess(path)
      let observed = store.observe(SharedNote.self)
      try await observed.ready()
      var snapshots = store.observeQuery(for: SharedNote.self).makeAsyncIterator()
      #expect(try await snapshots.next()?.items.isEmpty == true)
      try await store.stop()
      for number in 0..<5 {
        try other.tell("save \(number) x")
        try await other.expect("saved \(number)")
      }
      #expect(!observed.state.isFinished)
      try await store.start()
      // A snapshot that was being made at the start may have fewer.
      while let snapshot = try await snapshots.next(), snapshot.items.count < 5 {}
      var events = observed.makeAsyncIterator()
      var found: [String] = []
      for _ in 0..<5 { found.append(try #require(try await events.next()).modelId) }
      #expect(found == ["0", "1", "2", "3", "4"])
      try await store.save(SharedNote(id: "own", text: ""))
      #expect(try await events.next()?.modelId == "own")
    }
  }

  @Test func `writes of several processes at once are all there, and every live query ends with them`() async throws {
    try await Self.withFolder { path in
      let store = try DataStore(models: [SharedNote.self], storage: .file(path))
      let others = [try await SharingProcess(path), try await SharingProcess(path)]
      var snapshots = store.observeQuery(for: SharedNote.self, sort: .ascending(SharedNote.keys.id)).makeAsyncIterator()
      for number in 0..<20 {
        for (place, other) in others.enumerated() { try other.tell("save p\(place)-\(number) x") }
        try await store.save(SharedNote(id: "own-\(number)", text: "x"))
      }
      for (place, other) in others.enumerated() { try await other.expect("saved p\(place)-19") }
      var shown: [String] = []
      while shown.count < 60, let snapshot = try await snapshots.next() { shown = snapshot.items.map(\.id) }
      #expect(try await store.query(SharedNote.self, sort: .ascending(SharedNote.keys.id)).map(\.id) == shown)
    }
  }

  @Test func `the engine's right passes to a process that waits when its holder is killed, and the store continues`()
    async throws
  {
    try await Self.withFolder { path in
      let first = try await SharingProcess(path)
      let second = try await SharingProcess(path)
      try first.tell("engine")
      try await first.expect("engine")
      try second.tell("engine")
      try second.tell("save a x")
      try await second.expect("saved a")
      first.kill()
      try await second.expect("engine")
      try second.tell("save b x")
      try await second.expect("saved b")
      let store = try DataStore(models: [SharedNote.self], storage: .file(path))
      #expect(try await store.query(SharedNote.self).map(\.id) == ["a", "b"])
    }
  }

  @Test func `a process that is killed while it saves has lost nothing that it called saved`() async throws {
    try await Self.withFolder { path in
      let store = try DataStore(models: [SharedNote.self], storage: .file(path))
      for round in 1...4 {
        let others = [try await SharingProcess(path), try await SharingProcess(path)]
        let text = String(repeating: "x", count: 3_000)
        for number in 0..<100 { for other in others { try other.tell("save \(round)-\(number) \(text)") } }
        for (place, other) in others.enumerated() {
          try await other.expect("saved \(round)-\(round * 7 + place)")
          other.kill()
        }
        try await store.save(SharedNote(id: "own \(round)", text: ""))
        let found = Set(try await store.query(SharedNote.self).map(\.id))
        // Each saves its notes in their order.
        let last = (0..<100).last { found.contains("\(round)-\($0)") } ?? 0
        #expect(last >= round * 7 + 1)
        #expect((0...last).allSatisfy { found.contains("\(round)-\($0)") })
      }
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `a query does not wait for the transaction of another store on the file, and does not see it`() async throws {
    try await Self.withFolder { path in
      let writing = try DataStore(models: [SharedNote.self], storage: .file(path))
      let reading = try DataStore(models: [SharedNote.self], storage: .file(path))
      let (begun, begins) = AsyncStream.makeStream(of: Void.self)
      let end = DispatchSemaphore(value: 0)
      let transaction = Task {
        try await writing.transaction { transaction in
          try transaction.save(SharedNote(id: "a", text: "x"))
          begins.finish()
          end.wait()
        }
      }
      for await _ in begun {}
      #expect(try await reading.query(SharedNote.self).isEmpty)
      end.signal()
      try await transaction.value
      #expect(try await reading.query(SharedNote.self).map(\.id) == ["a"])
    }
  }
}
