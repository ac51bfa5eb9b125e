import Martlet
import MartletDataStore
import MartletJSON
import MartletServer
import Testing

/// What a server answers to a write that it does not take, or not now.
@Suite(.timeLimit(.minutes(1))) struct RefusalTests {
  private static func error(_ code: String, _ more: JSONObject = [:]) -> JSONValue {
    var extensions: JSONObject = ["code": .string(code)]
    for (name, value) in more { extensions[name] = value }
    return ["message": "no", "extensions": .object(extensions)]
  }

  @Test(arguments: ["OVERLOADED", "RATE_LIMITED", "DEADLINE", "INTERNAL", "OUTCOME_UNKNOWN", "SHUTTING_DOWN"])
  func `a refusal for load never drops a write`(code: String) async throws {
    try await SyncedServer.with { server in
      let ada = try SyncedStore(server) { configuration in
        configuration.retryDelay = .milliseconds(1)
        configuration.retryJitter = .zero
      }
      try await ada.settle()
      ada.wire.refuse(with: [Self.error(code, ["retryAfterMs": 1]), Self.error(code)])
      let handle = try await ada.store.submit(Note(id: "a", text: "one"))
      try await handle.reached(.durable)
      #expect(try await ada.store.rejectedWrites().isEmpty)
      ada.close()
    }
  }

  @Test func `a write that meets old credentials is sent again with fresh ones, and refused if they are refused, too`()
    async throws
  {
    try await SyncedServer.with { server in
      let ada = try SyncedStore(server)
      try await ada.settle()
      ada.wire.refuse(with: [Self.error("UNAUTHENTICATED")])
      try await ada.store.submit(Note(id: "a", text: "one")).reached(.durable)
      ada.wire.refuse(with: [Self.error("UNAUTHENTICATED"), Self.error("UNAUTHENTICATED")])
      let refused = try await ada.store.submit(Note(id: "b", text: "two"))
      #expect(await refused.end(before: .durable) == .rejected(.unauthorized))
      try await ada.sees([Note(id: "a", text: "one", owner: "ada")])
      #expect(try await ada.store.rejectedWrites().map(\.reason) == [.unauthorized])
      ada.close()
    }
  }

  @Test func `a condition that the server's record does not fulfil ends the write, and an event says so`() async throws
  {
    try await SyncedServer.with { server in
      let (ada, bob) = (try SyncedStore(server), try SyncedStore(server, as: "bob"))
      try await ada.settle()
      try await ada.store.save(Note(id: "a", text: "one", rank: 1))
      try await ada.settle()
      try await bob.settle()
      try await ada.cut()
      try await bob.store.submit(Note(id: "a", text: "one", rank: 5, owner: "ada")).reached(.durable)
      var events = ada.store.events.makeAsyncIterator()
      let handle = try await ada.store.submit(
        Note(id: "a", text: "two", rank: 1, owner: "ada"), where: Note.keys.rank == 1)
      try await ada.mend()
      #expect(await handle.end(before: .durable) == .rejected(.conditionFailed))
      while let event = await events.next() {
        guard case .conditionalSaveFailed(let mutation) = event else { continue }
        #expect(mutation.modelId == "a" && mutation.write == handle.write)
        break
      }
      try await ada.sees([Note(id: "a", text: "one", rank: 5, owner: "ada")])
      ada.close()
      bob.close()
    }
  }

  @Test func `an update of a record that the server no longer has ends as a conflict, and the row goes`() async throws {
    try await SyncedServer.with { server in
      let (ada, bob) = (try SyncedStore(server), try SyncedStore(server, as: "bob"))
      try await ada.settle()
      try await ada.store.save(Note(id: "a", text: "one"))
      try await ada.store.save(Note(id: "b", text: "one"))
      try await ada.settle()
      try await bob.settle()
      try await bob.sees([Note(id: "a", text: "one", owner: "ada"), Note(id: "b", text: "one", owner: "ada")])
      try await ada.cut()
      for id in ["a", "b"] { try await bob.store.delete(Note.self, withId: id) }
      try await bob.settle()
      let update = try await ada.store.submit(Note(id: "a", text: "two", owner: "ada"))
      // A deletion of what is deleted already has nothing left to do.
      let deletion = try await ada.store.submitDeletion(of: Note(id: "b", text: "one"))
      try await ada.mend()
      #expect(await update.end(before: .durable) == .rejected(.conflict))
      try await ada.sees([])
      try await ada.settle()
      #expect(deletion.end?.rejection == nil)
      #expect(try await ada.store.rejectedWrites().map(\.modelId) == ["a"])
      ada.close()
      bob.close()
    }
  }

  @Test func `a record that is deleted and made again before either is sent arrives as the new one`() async throws {
    try await SyncedServer.with { server in
      let (ada, bob) = (try SyncedStore(server), try SyncedStore(server, as: "bob"))
      try await ada.settle()
      try await ada.store.save(Note(id: "a", text: "one", rank: 1))
      try await ada.settle()
      try await bob.settle()
      try await ada.cut()
      try await ada.store.delete(Note.self, withId: "a")
      let handle = try await ada.store.submit(Note(id: "a", text: "new"))
      try await ada.mend()
      try await handle.reached(.seen)
      try await bob.sees([Note(id: "a", text: "new", owner: "ada")])
      #expect(try await ada.store.rejectedWrites().isEmpty)
      ada.close()
      bob.close()
    }
  }
}
