import Foundation
import MartletDataStore
import MartletJSON
import MartletServer
import MartletStore
import Testing

/// Stores and a real server.
@Suite(.timeLimit(.minutes(1))) struct TwoStoresTests {
  private let a = Note(id: "a", text: "one", rank: 1)

  @Test func `a write reaches the other store, and its handle passes every step`() async throws {
    try await SyncedServer.with { server in
      let (ada, bob) = (try SyncedStore(server), try SyncedStore(server, as: "bob"))
      try await ada.settle()
      try await bob.settle()
      let handle = try await ada.store.submit(a)
      #expect(handle.stage >= .local)
      try await handle.reached(.durable)
      try await handle.reached(.seen)
      var seen = a
      seen.owner = "ada"
      try await bob.sees([seen])
      try await ada.sees([seen])
      seen.text = "two"
      try await bob.store.save(seen)
      try await ada.sees([seen])
      try await bob.store.delete(seen)
      try await ada.sees([])
      ada.close()
      bob.close()
    }
  }

  @Test func `writes made without a network are there at once, and are sent once when it is back`() async throws {
    try await SyncedServer.with { server in
      let (ada, bob) = (try SyncedStore(server), try SyncedStore(server, as: "bob"))
      try await ada.settle()
      try await bob.settle()
      try await ada.cut()
      for number in 1...3 { try await ada.store.save(Note(id: "n\(number)", text: "t", rank: number)) }
      // Merged into the first write of its record.
      try await ada.store.save(Note(id: "n1", text: "u", rank: 9))
      #expect(try await ada.store.query(Note.self).count == 3)
      try await ada.wait { $0.pendingCount == 3 && !$0.isSettled }
      try await bob.store.save(Note(id: "b", text: "from bob"))
      try await ada.mend()
      let notes = [
        Note(id: "b", text: "from bob", owner: "bob"), Note(id: "n1", text: "u", rank: 9, owner: "ada"),
        Note(id: "n2", text: "t", rank: 2, owner: "ada"), Note(id: "n3", text: "t", rank: 3, owner: "ada"),
      ]
      try await ada.sees(notes)
      try await bob.sees(notes)
      try await ada.settle()
      #expect(ada.wire.mutations == 3)
      ada.close()
      bob.close()
    }
  }

  @Test func `a write whose answer is lost is sent again and applied once`() async throws {
    try await SyncedServer.with { server in
      let ada = try SyncedStore(server)
      try await ada.settle()
      try await ada.store.save(a)
      try await ada.settle()
      let head = server.node.store.position.head
      ada.wire.lose(1)
      let handle = try await ada.store.submit(Note(id: "a", text: "two", rank: 1, owner: "ada"))
      try await ada.store.networkIsReachable()
      try await handle.reached(.seen)
      // The change and the outcome of its number.
      #expect(server.node.store.position.head == head + 2)
      #expect(ada.wire.mutations == 3)
      ada.close()
    }
  }

  @Test func `two stores that change different fields of a record keep both changes`() async throws {
    try await SyncedServer.with { server in
      let (ada, bob) = (try SyncedStore(server), try SyncedStore(server, as: "bob"))
      try await ada.settle()
      try await ada.store.save(a)
      try await ada.settle()
      try await bob.settle()
      try await ada.cut()
      try await ada.store.save(Note(id: "a", text: "ada's", rank: 1, owner: "ada"))
      let handle = try await bob.store.submit(Note(id: "a", text: "one", rank: 7, owner: "ada"))
      try await handle.reached(.durable)
      try await ada.mend()
      let both = [Note(id: "a", text: "ada's", rank: 7, owner: "ada")]
      try await ada.sees(both)
      try await bob.sees(both)
      ada.close()
      bob.close()
    }
  }

  @Test func `a conflict is answered by the handler, and a refused write is a dead letter that can be retried`()
    async throws
  {
    let schema = SyncedServer.schema.replacingOccurrences(
      of: "type Note @model @versioned", with: "type Note @model @versioned(conflicts: OPTIMISTIC_CONCURRENCY)")
    try await SyncedServer.with(schema) { server in
      let ada = try SyncedStore(server) { configuration in
        configuration.conflictHandler = { conflict in
          conflict.local?.contains("insist") == true ? .retryLocal : .applyRemote
        }
      }
      let bob = try SyncedStore(server, as: "bob")
      try await ada.settle()
      try await ada.store.save(a)
      try await ada.settle()
      try await bob.settle()
      try await ada.cut()
      let lost = try await ada.store.submit(Note(id: "a", text: "give in", rank: 1, owner: "ada"))
      try await bob.store.submit(Note(id: "a", text: "bob's", rank: 1, owner: "ada")).reached(.durable)
      try await ada.mend()
      #expect(await lost.end(before: .durable) == .rejected(.conflict))
      try await ada.sees([Note(id: "a", text: "bob's", rank: 1, owner: "ada")])
      let letters = try await ada.store.rejectedWrites()
      #expect(letters.map(\.modelId) == ["a"])
      #expect(letters.first?.json == #"{"text":"give in"}"#)
      #expect(letters.first?.reason == .conflict)
      try await ada.store.retry(try #require(letters.first))
      try await bob.sees([Note(id: "a", text: "give in", rank: 1, owner: "ada")])
      #expect(try await ada.store.rejectedWrites().isEmpty)
      try await ada.settle()
      try await ada.cut()
      let kept = try await ada.store.submit(Note(id: "a", text: "insist", rank: 1, owner: "ada"))
      try await bob.store.submit(Note(id: "a", text: "bob again", rank: 1, owner: "ada")).reached(.durable)
      try await ada.mend()
      try await kept.reached(.seen)
      try await bob.sees([Note(id: "a", text: "insist", rank: 1, owner: "ada")])
      ada.close()
      bob.close()
    }
  }

  @Test func `a conflict handler gets the record without the later writes, whose conditions it cannot keep`()
    async throws
  {
    let schema = SyncedServer.schema.replacingOccurrences(
      of: "type Note @model @versioned", with: "type Note @model @versioned(conflicts: OPTIMISTIC_CONCURRENCY)")
    try await SyncedServer.with(schema) { server in
      let ada = try SyncedStore(server) { configuration in
        configuration.conflictHandler = { conflict in
          guard conflict.attempt == 0, let note = try? conflict.local(as: Note.self) else { return .applyRemote }
          return .retry(note)
        }
      }
      let bob = try SyncedStore(server, as: "bob")
      try await ada.settle()
      try await ada.store.save(a)
      try await ada.settle()
      try await bob.settle()
      try await ada.cut()
      let first = try await ada.store.submit(Note(id: "a", text: "first", rank: 3, owner: "ada"))
      let rank = Note.keys.rank
      let second = try await ada.store.submit(Note(id: "a", text: "second", rank: 4, owner: "ada"), where: rank == 3)
      try await bob.store.submit(Note(id: "a", text: "bob's", rank: 5, owner: "ada")).reached(.durable)
      try await ada.mend()
      try await first.reached(.seen)
      try await second.reached(.seen)
      try await ada.settle()
      try await bob.sees([Note(id: "a", text: "second", rank: 4, owner: "ada")])
      ada.close()
      bob.close()
    }
  }

  @Test func `the later writes of a record follow the one whose conflict is answered by a retry, in their order`()
    async throws
  {
    let schema = SyncedServer.schema.replacingOccurrences(
      of: "type Note @model @versioned", with: "type Note @model @versioned(conflicts: OPTIMISTIC_CONCURRENCY)")
    try await SyncedServer.with(schema) { server in
      let ada = try SyncedStore(server) { $0.conflictHandler = { _ in .retryLocal } }
      let bob = try SyncedStore(server, as: "bob")
      try await ada.settle()
      try await ada.store.save(a)
      try await ada.settle()
      try await bob.settle()
      try await ada.cut()
      // Writes with conditions are not merged: each of the record's writes is sent by itself.
      var handles: [WriteHandle] = []
      for (number, text) in ["first", "second", "third"].enumerated() {
        let note = Note(id: "a", text: text, rank: 1, owner: "ada")
        let rank = Note.keys.rank
        handles.append(
          try await number == 0 ? ada.store.submit(note) : ada.store.submit(note, where: rank == 1))
      }
      let other = try await ada.store.submit(Note(id: "b", text: "other"))
      try await bob.store.submit(Note(id: "a", text: "bob's", rank: 1, owner: "ada")).reached(.durable)
      try await ada.mend()
      for handle in handles + [other] { try await handle.reached(.seen) }
      let notes = [
        Note(id: "a", text: "third", rank: 1, owner: "ada"), Note(id: "b", text: "other", owner: "ada"),
      ]
      try await ada.sees(notes)
      try await bob.sees(notes)
      try await ada.settle()
      #expect(try await ada.store.rejectedWrites().isEmpty)
      ada.close()
      bob.close()
    }
  }

  @Test func `a write that the server refuses is rolled back visibly and becomes a dead letter`() async throws {
    try await SyncedServer.with { server in
      let ada = try SyncedStore(server)
      try await ada.settle()
      try await ada.store.save(a)
      try await ada.settle()
      let long = Note(id: "a", text: "much longer than the server allows", rank: 1, owner: "ada")
      let handle = try await ada.store.submit(long)
      #expect(await handle.end(before: .durable) != nil)
      try await ada.sees([Note(id: "a", text: "one", rank: 1, owner: "ada")])
      let letter = try #require(try await ada.store.rejectedWrites().first)
      guard case .refused(let code, _) = letter.reason else {
        Issue.record("\(letter.reason)")
        return
      }
      #expect(code == "BAD_USER_INPUT")
      #expect(letter.mutationType == .update)
      try await ada.store.discard(letter)
      #expect(try await ada.store.rejectedWrites().isEmpty)
      ada.close()
    }
  }

  @Test func `what was written before a restart is sent after it, and the sync continues where it was`() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-sync-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = DataStoreStorage.file(folder.appendingPathComponent("store").path)
    try await SyncedServer.with { server in
      let bob = try SyncedStore(server, as: "bob")
      try await bob.settle()
      do {
        let ada = try SyncedStore(server, storage: file)
        try await ada.settle()
        try await ada.store.save(a)
        try await ada.settle()
        // A store that does not know the record creates it, which the server refuses.
        try await bob.sees([Note(id: "a", text: "one", rank: 1, owner: "ada")])
        try await ada.cut()
        try await ada.store.save(Note(id: "b", text: "offline"))
        try await ada.store.stop()
        ada.close()
      }
      let saved = try await bob.store.submit(Note(id: "a", text: "meanwhile", rank: 1, owner: "ada"))
      try await saved.reached(.durable)
      let again = try SyncedStore(server, storage: file)
      #expect(try await again.store.query(Note.self, byId: "b")?.text == "offline")
      let notes = [
        Note(id: "a", text: "meanwhile", rank: 1, owner: "ada"), Note(id: "b", text: "offline", owner: "ada"),
      ]
      try await again.sees(notes)
      try await bob.sees(notes)
      try await again.settle()
      again.close()
      bob.close()
    }
  }

  @Test func `a store that was away for longer than the log reaches replaces what it has, and keeps its own writes`()
    async throws
  {
    try await SyncedServer.with(
      SyncedServer.schema, { configuration in configuration.limits.store.retentionBytes = 1 }
    ) { server in
      let (ada, bob) = (try SyncedStore(server), try SyncedStore(server, as: "bob"))
      try await ada.settle()
      try await ada.store.save(a)
      try await ada.store.save(Note(id: "b", text: "goes"))
      try await ada.settle()
      try await bob.settle()
      try await ada.cut()
      let own = try await ada.store.submit(Note(id: "c", text: "mine"))
      try await bob.store.delete(Note.self, withId: "b")
      try await bob.settle()
      // What has expired is looked for every 64 groups.
      for number in 0..<130 {
        _ = try await server.transaction { _ = try $0.create("Note", ["id": .string("n\(number)"), "text": "t"]) }
      }
      let deleted = (0..<130).map { "n\($0)" }
      _ = try await server.transaction { for id in deleted { _ = try $0.delete("Note", ["id": .string(id)]) } }
      try await ada.mend()
      try await own.reached(.durable)
      try await ada.sees([
        Note(id: "a", text: "one", rank: 1, owner: "ada"), Note(id: "c", text: "mine", owner: "ada"),
      ])
      try await ada.settle()
      ada.close()
      bob.close()
    }
  }

  @Test func `P10: records that a caller may no longer see leave its store, also while it was away`() async throws {
    let schema = """
      type Folder @model @versioned { id: ID! name: String! }
      type Note @model @versioned @auth(rules: [{allow: owner}, {allow: groups, groups: ["staff"]}]) {
        id: ID! text: String! rank: Int
      }
      """
    try await SyncedServer.with(schema) { server in
      let ada = try SyncedStore(server)
      try await ada.settle()
      try await ada.store.save(a)
      try await ada.store.save(Note(id: "b", text: "kept"))
      try await ada.settle()
      func give(_ id: String, to owner: String) async throws {
        let values: JSONObject = ["id": .string(id), "owner": .string(owner)]
        _ = try await server.transaction { _ = try $0.update("Note", values) }
      }
      try await give("a", to: "bob")
      try await ada.sees([Note(id: "b", text: "kept", owner: "ada")])
      try await ada.cut()
      try await give("b", to: "bob")
      try await ada.mend()
      try await ada.sees([])
      ada.close()
    }
  }
}
