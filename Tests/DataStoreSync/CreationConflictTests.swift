import Foundation
import Martlet
import MartletDataStore
import MartletServer
import Testing

/// Creations of records that another store has created meanwhile.
@Suite(.timeLimit(.minutes(1))) struct CreationConflictTests {
  @Test(arguments: ["AUTOMERGE", "OPTIMISTIC_CONCURRENCY"])
  func `P15: a creation that is made again takes fields that it never gave, such as the owner`(_ strategy: String)
    async throws
  {
    let schema = SyncedServer.schema.replacingOccurrences(
      of: "type Note @model @versioned", with: "type Note @model @versioned(conflicts: \(strategy))")
    try await SyncedServer.with(schema) { server in
      let ada = try SyncedStore(server) { $0.conflictHandler = { _ in .retryLocal } }
      let (bob, cid) = (try SyncedStore(server, as: "bob"), try SyncedStore(server, as: "cid"))
      defer {
        ada.close()
        bob.close()
        cid.close()
      }
      for store in [ada, bob, cid] { try await store.settle() }
      try await ada.cut()
      try await cid.cut()
      let mine = try await ada.store.submit(Note(id: "a", text: "mine"))
      let later = try await ada.store.submit(Note(id: "a", text: "mine", rank: 8), where: Note.keys.text == "mine")
      let refused = try await cid.store.submit(Note(id: "a", text: "cid's"))
      try await bob.store.submit(Note(id: "a", text: "bob's", rank: 7)).reached(.durable)
      try await ada.mend()
      try await mine.reached(.seen)
      // The rank that it replaces is the one that the server had, though the creation gave none.
      try await later.reached(.seen)
      try await ada.sees([Note(id: "a", text: "mine", rank: 8, owner: "bob")])
      try await cid.mend()
      #expect(await refused.end(before: .durable) == .rejected(.conflict))
      try await cid.sees([Note(id: "a", text: "mine", rank: 8, owner: "bob")])
      try await cid.store.retry(try #require(try await cid.store.rejectedWrites().first))
      try await cid.settle()
      try await cid.sees([Note(id: "a", text: "cid's", rank: 8, owner: "bob")])
      #expect(try await cid.store.rejectedWrites().isEmpty)
    }
  }

  @Test func `P12: a number of a write that was cleared is given to another write`() async throws {
    try await SyncedServer.with { server in
      let ada = try SyncedStore(server)
      defer { ada.close() }
      try await ada.settle()
      let gate = ada.wire.gateMutations()
      let cleared = try await ada.store.submit(Note(id: "a", text: "one"))
      try await cleared.reached(.sent)
      try await ada.store.clear(discardingPending: true)
      let kept = try await ada.store.submit(Note(id: "b", text: "two"))
      #expect(kept.write > cleared.write)
      #expect(cleared.end?.reason == .cleared)
      gate.finish()
      try await kept.reached(.seen)
      try await ada.settle()
      // The server had the first one already.
      try await ada.sees([Note(id: "a", text: "one", owner: "ada"), Note(id: "b", text: "two", owner: "ada")])
    }
  }
}
