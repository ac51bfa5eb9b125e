import Foundation
import Martlet
import MartletDataStore
import MartletJSON
import MartletRuntime
import MartletServer
import Testing

/// Writes of one record that overtake each other's answers, and handles that wait while the sync begins and ends.
@Suite(.timeLimit(.minutes(1))) struct InterleavingTests {
  private static let error: JSONValue = ["message": "no", "extensions": ["code": "NO_CODE_OF_OURS"]]

  @Test func `a record that is deleted and made again while its creation is on its way arrives as the last one`()
    async throws
  {
    try await SyncedServer.with { server in
      let (ada, bob) = (try SyncedStore(server), try SyncedStore(server, as: "bob"))
      defer {
        ada.close()
        bob.close()
      }
      try await ada.settle()
      try await bob.settle()
      let gate = ada.wire.gateMutations()
      let creation = try await ada.store.submit(Note(id: "a", text: "one", rank: 1))
      try await creation.reached(.sent)
      let deletion = try await ada.store.submitDeletion(of: Note(id: "a", text: "one", rank: 1))
      let again = try await ada.store.submit(Note(id: "a", text: "two"))
      let gone = try await ada.store.submitDeletion(of: Note(id: "a", text: "two"))
      let last = try await ada.store.submit(Note(id: "a", text: "three", rank: 3))
      #expect(try await ada.store.query(Note.self) == [Note(id: "a", text: "three", rank: 3)])
      gate.finish()
      for handle in [creation, deletion, last] { try await handle.reached(.seen) }
      // The second record was never sent.
      #expect(again.end?.reason == .superseded && gone.end?.reason == .superseded)
      let notes = [Note(id: "a", text: "three", rank: 3, owner: "ada")]
      try await ada.settle()
      try await ada.sees(notes)
      try await bob.sees(notes)
      #expect(ada.wire.mutations == 3)
      #expect(try await ada.store.rejectedWrites().isEmpty)
    }
  }

  @Test func `P12: a save that changes nothing is where its record's last write is, and at the end where none waits`()
    async throws
  {
    try await SyncedServer.with { server in
      let ada = try SyncedStore(server)
      defer { ada.close() }
      try await ada.settle()
      var note = Note(id: "a", text: "one", rank: 1)
      try await ada.store.submit(note).reached(.seen)
      note.owner = "ada"
      let same = try await ada.store.submit(note)
      #expect(same.stage == .seen && same.end == nil && same.write == 0)
      try await same.reached(.durable)
      try await ada.cut()
      note.text = "two"
      try await ada.store.save(note)
      let (waiting, other) = (try await ada.store.submit(note), try await ada.store.submit(note))
      #expect(waiting.stage == .local && waiting.write > 0 && waiting.write == other.write)
      let gate = ada.wire.gateMutations()
      try await ada.mend()
      try await waiting.reached(.sent)
      let late = try await ada.store.submit(note)
      #expect(late.write == waiting.write && late.stage < .durable && late.end == nil)
      gate.finish()
      for handle in [waiting, other, late] { try await handle.reached(.seen) }
      #expect(ada.wire.mutations == 2)
      // A handle says that a refused write was refused to a save that it made needless, too.
      try await ada.cut()
      note.text = "much longer than the server allows"
      try await ada.store.save(note)
      let refused = try await ada.store.submit(note)
      try await ada.mend()
      #expect(await refused.end(before: .durable) != nil && refused.end?.rejection != nil)
    }
  }

  @Test func `P12: each write that a later one leaves nothing of has an event, which names its record`() async throws {
    try await SyncedServer.with { server in
      let failures = Lock<[DataStoreError]>([])
      let ada = try SyncedStore(server) { configuration in
        configuration.errorHandler = { error in failures.withLock { $0.append(error) } }
      }
      defer { ada.close() }
      try await ada.settle()
      try await ada.store.save(Note(id: "b", text: "one", rank: 1))
      try await ada.settle()
      try await ada.cut()
      failures.withLock { $0 = [] }
      var events = ada.store.events.makeAsyncIterator()
      let made = try await ada.store.submit(Note(id: "a", text: "unsent"))
      try await ada.store.delete(Note.self, withId: "a")
      let changed = try await ada.store.submit(Note(id: "b", text: "two", rank: 1, owner: "ada"))
      // Back at the value that the server has. `save` has no handle, and its write has the event all the same.
      try await ada.store.save(Note(id: "b", text: "one", rank: 1, owner: "ada"))
      try await ada.store.save(Note(id: "c", text: "without a handle"))
      try await ada.store.delete(Note.self, withId: "c")
      var ended: [DataStoreEvent.SyncedMutation] = []
      while ended.count < 3, let event = await events.next() {
        guard case .outboxMutationFailed(let mutation, let reason) = event else { continue }
        #expect(reason == .superseded)
        ended.append(mutation)
      }
      #expect(ended.map(\.modelId) == ["a", "b", "c"] && ended.allSatisfy { $0.modelName == "Note" })
      #expect(ended.prefix(2).map(\.write) == [made.write, changed.write])
      #expect(made.end?.reason == .superseded && changed.end?.reason == .superseded)
      // Nothing failed, and nothing is owed.
      #expect(!failures.withLock { $0 }.contains { $0.message.contains("refused") })
      #expect(try await ada.store.rejectedWrites().isEmpty && ada.store.syncStatus.pendingCount == 0)
      try await ada.mend()
      try await ada.settle()
      #expect(ada.wire.mutations == 1)
    }
  }

  @Test func `a record that is made while its deletion is on its way, and deleted and made again, is there in the end`()
    async throws
  {
    try await SyncedServer.with { server in
      let (ada, bob) = (try SyncedStore(server), try SyncedStore(server, as: "bob"))
      defer {
        ada.close()
        bob.close()
      }
      try await ada.settle()
      try await ada.store.save(Note(id: "a", text: "one", rank: 1))
      try await ada.settle()
      try await bob.settle()
      let gate = ada.wire.gateMutations()
      let deletion = try await ada.store.submitDeletion(of: Note(id: "a", text: "one"))
      try await deletion.reached(.sent)
      let creation = try await ada.store.submit(Note(id: "a", text: "two"))
      gate.yield()
      try await creation.reached(.sent)
      let change = try await ada.store.submit(Note(id: "a", text: "three", rank: 2))
      gate.finish()
      for handle in [deletion, creation, change] { try await handle.reached(.seen) }
      let notes = [Note(id: "a", text: "three", rank: 2, owner: "ada")]
      try await ada.sees(notes)
      try await bob.sees(notes)
      #expect(try await ada.store.rejectedWrites().isEmpty)
    }
  }

  @Test func `a dead letter that is retried while a newer edit of its record waits goes with that edit`() async throws {
    try await SyncedServer.with { server in
      let (ada, bob) = (try SyncedStore(server), try SyncedStore(server, as: "bob"))
      defer {
        ada.close()
        bob.close()
      }
      try await ada.settle()
      try await ada.store.save(Note(id: "a", text: "one", rank: 1))
      try await ada.settle()
      ada.wire.refuse(with: [Self.error])
      let refused = try await ada.store.submit(Note(id: "a", text: "two", rank: 1, owner: "ada"))
      #expect(await refused.end(before: .durable) != nil)
      try await ada.cut()
      let newer = try await ada.store.submit(Note(id: "a", text: "one", rank: 9, owner: "ada"))
      try await ada.store.retry(try #require(try await ada.store.rejectedWrites().first))
      #expect(try await ada.store.query(Note.self, byId: "a")?.text == "two")
      try await ada.mend()
      try await newer.reached(.seen)
      let notes = [Note(id: "a", text: "two", rank: 9, owner: "ada")]
      try await ada.settle()
      try await ada.sees(notes)
      try await bob.sees(notes)
      #expect(try await ada.store.rejectedWrites().isEmpty)
      #expect(ada.wire.mutations == 2)
    }
  }

  @Test func `a deletion whose condition the server's record does not fulfil is taken back, visibly`()
    async throws
  {
    try await SyncedServer.with { server in
      let (ada, bob) = (try SyncedStore(server), try SyncedStore(server, as: "bob"))
      defer {
        ada.close()
        bob.close()
      }
      try await ada.settle()
      try await ada.store.save(Note(id: "a", text: "one", rank: 1))
      try await ada.settle()
      try await bob.settle()
      try await ada.cut()
      let deletion = try await ada.store.submitDeletion(
        of: Note(id: "a", text: "one", rank: 1, owner: "ada"), where: Note.keys.rank == 1)
      #expect(try await ada.store.query(Note.self).isEmpty)
      try await bob.store.submit(Note(id: "a", text: "one", rank: 5, owner: "ada")).reached(.durable)
      try await ada.mend()
      let end = await deletion.end(before: .durable)
      #expect(end == .rejected(.conditionFailed) || end == .rejected(.conflict))
      try await ada.sees([Note(id: "a", text: "one", rank: 5, owner: "ada")])
      let letter = try #require(try await ada.store.rejectedWrites().first)
      #expect(letter.mutationType == .delete && letter.json == nil)
      // The condition does not hold here either now.
      await #expect(throws: DataStoreError.self) { try await ada.store.retry(letter) }
      #expect(try await ada.store.rejectedWrites() == [letter])
    }
  }

  @Test func `a handle that waits over stop and start gets there, and one whose store is closed ends`() async throws {
    try await SyncedServer.with { server in
      try await TemporaryFolder.with { folder in
        var handle: WriteHandle?
        do {
          let ada = try SyncedStore(server, storage: .file(folder + "/store"))
          try await ada.settle()
          let gate = ada.wire.gateMutations()
          let first = try await ada.store.submit(Note(id: "a", text: "one"))
          try await first.reached(.sent)
          // Its answer comes after the stop, and is ignored.
          try await ada.store.stop()
          gate.finish()
          try await ada.store.start()
          try await first.reached(.seen)
          try await ada.cut()
          handle = try await ada.store.submit(Note(id: "b", text: "two"))
          try await ada.store.stop()
          ada.close()
        }
        #expect(await handle?.end(before: .durable) == .closed)
        let again = try SyncedStore(server, storage: .file(folder + "/store"))
        try await again.settle()
        try await again.sees([Note(id: "a", text: "one", owner: "ada"), Note(id: "b", text: "two", owner: "ada")])
        #expect(try await again.store.rejectedWrites().isEmpty)
        again.close()
      }
    }
  }

  @Test(arguments: [true, false])
  func `a store that is cleared or stopped while its handler thinks about a conflict takes no answer to it`(
    clears: Bool
  ) async throws {
    let schema = SyncedServer.schema.replacingOccurrences(
      of: "type Note @model @versioned", with: "type Note @model @versioned(conflicts: OPTIMISTIC_CONCURRENCY)")
    try await SyncedServer.with(schema) { server in
      let (asked, ask) = AsyncStream.makeStream(of: Int.self)
      let (answers, answer) = AsyncStream.makeStream(of: Void.self)
      let ada = try SyncedStore(server) { configuration in
        configuration.conflictHandler = { conflict in
          ask.yield(conflict.attempt)
          for await _ in answers { break }
          return .retryLocal
        }
      }
      let bob = try SyncedStore(server, as: "bob")
      defer {
        ada.close()
        bob.close()
      }
      var questions = asked.makeAsyncIterator()
      try await ada.settle()
      try await ada.store.save(Note(id: "a", text: "one", rank: 1))
      try await ada.settle()
      try await bob.settle()
      try await ada.cut()
      let handle = try await ada.store.submit(Note(id: "a", text: "mine", rank: 1, owner: "ada"))
      try await bob.store.submit(Note(id: "a", text: "bob's", rank: 1, owner: "ada")).reached(.durable)
      try await ada.mend()
      #expect(await questions.next() == 0)
      if clears {
        try await ada.store.clear(discardingPending: true)
        #expect(await handle.end(before: .durable) == .cleared)
        answer.finish()
        try await ada.settle()
        try await ada.sees([Note(id: "a", text: "bob's", rank: 1, owner: "ada")])
      } else {
        try await ada.store.stop()
        try await ada.store.start()
        // The write is sent again, and its conflict asked about anew.
        #expect(await questions.next() == 0)
        answer.finish()
        try await handle.reached(.seen)
        try await ada.sees([Note(id: "a", text: "mine", rank: 1, owner: "ada")])
      }
      try await ada.settle()
      #expect(try await ada.store.rejectedWrites().isEmpty)
    }
  }
}
