import Foundation
import Martlet
import MartletDataStore
import MartletRuntime
import MartletServer
import Testing

/// Writes of records that the server has and that a sync expression leaves out of the store.
@Suite(.timeLimit(.minutes(1))) struct HiddenRecordTests {
  private static let optimistic = SyncedServer.schema.replacingOccurrences(
    of: "type Note @model @versioned", with: "type Note @model @versioned(conflicts: OPTIMISTIC_CONCURRENCY)")

  /// A store that keeps notes with a rank above three, and one that keeps all.
  private func with(
    _ answer: DataStoreConflictResolution, _ schema: String = SyncedServer.schema,
    _ body: (_ ada: SyncedStore, _ bob: SyncedStore, _ asked: Lock<[DataStoreConflict]>) async throws -> Void
  ) async throws {
    try await SyncedServer.with(
      schema, { configuration in configuration.limits.session.positionInterval = .milliseconds(20) }
    ) { server in
      let asked = Lock<[DataStoreConflict]>([])
      let ada = try SyncedStore(server) { configuration in
        configuration.syncExpressions = [.syncExpression(Note.self) { Note.keys.rank > 3 }]
        configuration.conflictHandler = { conflict in
          asked.withLock { $0.append(conflict) }
          return answer
        }
      }
      let bob = try SyncedStore(server, as: "bob")
      defer {
        ada.close()
        bob.close()
      }
      try await ada.settle()
      try await bob.settle()
      try await body(ada, bob, asked)
    }
  }

  @Test func `P15: an edit that brings a record back that another edit took out of the store is refused`() async throws
  {
    try await with(.applyRemote) { ada, bob, asked in
      try await ada.store.submit(Note(id: "a", text: "t", rank: 5)).reached(.seen)
      try await ada.store.submit(Note(id: "a", text: "t", rank: 2, owner: "ada")).reached(.seen)
      try await ada.sees([])
      let gate = ada.wire.holdMutations()
      let back = try await ada.store.submit(Note(id: "a", text: "t", rank: 9))
      gate.yield()
      // The creation has met the record: it is visible until it is made again, and after it.
      while ada.wire.uploads.count < 4 { await Task.yield() }
      #expect(try await ada.store.query(Note.self, byId: "a")?.rank == 9)
      gate.finish()
      try await back.reached(.seen)
      let notes = [Note(id: "a", text: "t", rank: 9, owner: "ada")]
      try await ada.sees(notes)
      try await bob.sees(notes)
      #expect(asked.withLock { $0 }.isEmpty)
      #expect(try await ada.store.rejectedWrites().isEmpty)
    }
  }

  @Test func `a creation that waits to be made again over a hidden record is forgotten when it is deleted`()
    async throws
  {
    try await with(.applyRemote) { ada, bob, _ in
      try await ada.store.submit(Note(id: "a", text: "t", rank: 5)).reached(.seen)
      try await ada.store.submit(Note(id: "a", text: "t", rank: 2, owner: "ada")).reached(.seen)
      let gate = ada.wire.gateMutations()
      let back = try await ada.store.submit(Note(id: "a", text: "t", rank: 9))
      try await back.reached(.sent)
      ada.wire.refuse(with: [["message": "later", "extensions": ["code": "OVERLOADED", "retryAfterMs": 200]]])
      gate.yield()
      while ada.wire.uploads.count < 4 { await Task.yield() }
      gate.finish()
      try await ada.store.submitDeletion(of: Note(id: "a", text: "t")).reached(.durable)
      try await ada.settle()
      try await ada.sees([])
      try await bob.sees([])
    }
  }

  @Test(arguments: [true, false])
  func `the handler is not asked about a record that the expression leaves out`(_ retries: Bool) async throws {
    try await with(retries ? .retryLocal : .applyRemote) { ada, bob, asked in
      try await bob.store.submit(Note(id: "h", text: "hidden", rank: 1)).reached(.durable)
      let handle = try await ada.store.submit(Note(id: "h", text: "mine", rank: 8))
      if retries {
        try await handle.reached(.seen)
        let notes = [Note(id: "h", text: "mine", rank: 8, owner: "bob")]
        try await ada.sees(notes)
        try await bob.sees(notes)
      } else {
        #expect(await handle.end(before: .durable) == .rejected(.conflict))
        try await ada.sees([])
      }
      let conflict = try #require(asked.withLock { $0 }.first)
      #expect(try conflict.remote(as: Note.self) == Note(id: "h", text: "hidden", rank: 1, owner: "bob"))
    }
  }

  @Test func `P15: an edit of a record that another store takes out of the expression is refused unasked`() async throws
  {
    try await with(.retryLocal, Self.optimistic) { ada, bob, asked in
      try await ada.store.submit(Note(id: "a", text: "t", rank: 5)).reached(.seen)
      try await bob.sees([Note(id: "a", text: "t", rank: 5, owner: "ada")])
      try await ada.cut()
      let edit = try await ada.store.submit(Note(id: "a", text: "mine", rank: 5, owner: "ada"))
      try await bob.store.submit(Note(id: "a", text: "bob's", rank: 1, owner: "ada")).reached(.durable)
      try await ada.mend()
      try await edit.reached(.seen)
      try await ada.sees([])
      try await bob.sees([Note(id: "a", text: "mine", rank: 1, owner: "ada")])
      #expect(asked.withLock { $0.count } == 1)
    }
  }
}
