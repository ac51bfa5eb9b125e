import Foundation
import Martlet
import MartletDataStore
import MartletJSON
import MartletRuntime
import MartletServer
import Testing

/// Answers of a conflict handler that no handler should give, and writes that wait behind one that is refused.
@Suite(.timeLimit(.minutes(1))) struct ConflictAnswerTests {
  private static let optimistic = SyncedServer.schema.replacingOccurrences(
    of: "type Note @model @versioned", with: "type Note @model @versioned(conflicts: OPTIMISTIC_CONCURRENCY)")

  /// Has two stores write to the record `a`, and returns what becomes of the first one's write, whose handler answers
  /// the conflict.
  private func conflict(
    on server: GraphQLServer, _ adjust: (inout DataStoreConfiguration) -> Void,
    _ body: (SyncedStore, SyncedStore, WriteHandle) async throws -> Void
  ) async throws {
    let (ada, bob) = (try SyncedStore(server, adjust), try SyncedStore(server, as: "bob"))
    defer {
      ada.close()
      bob.close()
    }
    try await ada.settle()
    try await ada.store.save(Note(id: "a", text: "one", rank: 1))
    try await ada.store.save(Note(id: "b", text: "other", rank: 1))
    try await ada.settle()
    try await bob.settle()
    try await ada.cut()
    let handle = try await ada.store.submit(Note(id: "a", text: "mine", rank: 1, owner: "ada"))
    try await bob.store.submit(Note(id: "a", text: "bob's", rank: 1, owner: "ada")).reached(.durable)
    try await ada.mend()
    try await body(ada, bob, handle)
  }

  @Test func `a handler that answers with another record writes neither that nor its own, which is an error`()
    async throws
  {
    try await SyncedServer.with(Self.optimistic) { server in
      let errors = Lock<[DataStoreError]>([])
      try await conflict(
        on: server,
        { configuration in
          configuration.conflictHandler = { _ in .retry(Note(id: "b", text: "stray", rank: 9, owner: "ada")) }
          configuration.errorHandler = { error in errors.withLock { $0.append(error) } }
        }
      ) { ada, bob, handle in
        #expect(await handle.end(before: .durable) == .rejected(.conflict))
        let notes = [
          Note(id: "a", text: "bob's", rank: 1, owner: "ada"), Note(id: "b", text: "other", rank: 1, owner: "ada"),
        ]
        try await ada.settle()
        try await ada.sees(notes)
        try await bob.sees(notes)
        #expect(try await ada.store.rejectedWrites().map(\.json) == [#"{"text":"mine"}"#])
        #expect(errors.withLock { $0 }.contains { $0.code == .invalidModel && $0.message.contains("another Note") })
      }
    }
  }

  @Test func `a handler that answers with the server's own record has its write end, with nothing refused`()
    async throws
  {
    try await SyncedServer.with(Self.optimistic) { server in
      try await conflict(
        on: server,
        { configuration in
          configuration.conflictHandler = { conflict in
            guard let remote = try? conflict.remote(as: Note.self) else { return .applyRemote }
            return .retry(remote)
          }
        }
      ) { ada, _, handle in
        try await handle.reached(.durable)
        try await ada.settle()
        try await ada.sees([
          Note(id: "a", text: "bob's", rank: 1, owner: "ada"), Note(id: "b", text: "other", rank: 1, owner: "ada"),
        ])
        #expect(try await ada.store.rejectedWrites().isEmpty)
      }
    }
  }

  @Test func `P15: each write that is refused with another has an event, and the error handler gets it`() async throws {
    try await SyncedServer.with { server in
      let errors = Lock<[String]>([])
      let ada = try SyncedStore(server) { configuration in
        configuration.errorHandler = { error in errors.withLock { $0.append(error.message) } }
      }
      defer { ada.close() }
      try await ada.settle()
      try await ada.cut()
      errors.withLock { $0 = [] }
      var events = ada.store.events.makeAsyncIterator()
      // A write with a condition is not merged.
      let first = try await ada.store.submit(Note(id: "a", text: "much longer than the server allows", rank: 1))
      let second = try await ada.store.submit(Note(id: "a", text: "short", rank: 1), where: Note.keys.rank == 1)
      try await ada.mend()
      #expect(await second.end(before: .durable) == .rejected(.dependsOn(write: first.write)))
      var failed: [(DataStoreEvent.SyncedMutation, WriteHandle.Ended.Reason)] = []
      while failed.count < 2, let event = await events.next() {
        if case .outboxMutationFailed(let mutation, let reason) = event { failed.append((mutation, reason)) }
      }
      #expect(failed.map(\.0.write) == [first.write, second.write])
      #expect(failed.map(\.0.modelId) == ["a", "a"] && failed.allSatisfy { !$0.0.isDeleted })
      #expect(failed[1].1 == .rejected(.dependsOn(write: first.write)))
      #expect(try await ada.store.rejectedWrites().map(\.write) == [first.write, second.write])
      #expect(errors.withLock { $0 }.filter { $0.hasPrefix("a write of the Note a was refused") }.count == 2)
    }
  }

  @Test func `P15: a record that no request can carry is refused, and the writes after it are sent`() async throws {
    try await SyncedServer.with { server in
      try await TemporaryFolder.with { folder in
        let ada = try SyncedStore(server, storage: .file(folder + "/store"))
        defer { ada.close() }
        try await ada.settle()
        // Longer than the bound of a JSON text that comes from outside.
        let text = String(repeating: "x", count: JSONLimits().bytes + 1)
        let large = try await ada.store.submit(Note(id: "a", text: text))
        let small = try await ada.store.submit(Note(id: "b", text: "small"))
        #expect(await large.end(before: .durable) != nil)
        #expect(large.end?.rejection != nil)
        try await small.reached(.seen)
        #expect(try await ada.store.rejectedWrites().map(\.write) == [large.write])
        try await ada.sees([Note(id: "b", text: "small", owner: "ada")])
      }
    }
  }

  @Test func `P15: the edit of a refused edit reaches the server, which never had the value that it replaces`()
    async throws
  {
    try await SyncedServer.with { server in
      let ada = try SyncedStore(server)
      defer { ada.close() }
      try await ada.settle()
      try await ada.store.save(Note(id: "a", text: "one", rank: 1))
      try await ada.settle()
      try await ada.cut()
      let long = try await ada.store.submit(
        Note(id: "a", text: "much longer than the server allows", rank: 1, owner: "ada"))
      let short = try await ada.store.submit(
        Note(id: "a", text: "short", rank: 1, owner: "ada"), where: Note.keys.rank == 1)
      try await ada.mend()
      #expect(await long.end(before: .durable) != nil)
      try await short.reached(.seen)
      try await ada.sees([Note(id: "a", text: "short", rank: 1, owner: "ada")])
    }
  }

  @Test func `P15: a field that the server gives a default keeps the value that was written behind the creation`()
    async throws
  {
    let schema = SyncedServer.schema.replacingOccurrences(of: "rank: Int", with: "rank: Int @default(value: \"5\")")
    try await SyncedServer.with(schema) { server in
      let ada = try SyncedStore(server)
      defer { ada.close() }
      try await ada.settle()
      try await ada.cut()
      try await ada.store.save(Note(id: "a", text: "one"))
      let ranked = try await ada.store.submit(Note(id: "a", text: "one", rank: 7), where: Note.keys.text == "one")
      try await ada.mend()
      try await ranked.reached(.seen)
      try await ada.sees([Note(id: "a", text: "one", rank: 7, owner: "ada")])
    }
  }

  @Test func `P12: the handle of a write that is made again after a conflict has the number that its events have`()
    async throws
  {
    try await SyncedServer.with(Self.optimistic) { server in
      let ada = try SyncedStore(server) { $0.conflictHandler = { _ in .retryLocal } }
      let bob = try SyncedStore(server, as: "bob")
      defer {
        ada.close()
        bob.close()
      }
      try await ada.settle()
      try await ada.store.submit(Note(id: "a", text: "one", rank: 1)).reached(.seen)
      try await bob.settle()
      try await ada.cut()
      let first = try await ada.store.submit(Note(id: "a", text: "mine", rank: 1, owner: "ada"))
      // A write with a condition is not merged.
      let later = try await ada.store.submit(
        Note(id: "a", text: "mine", rank: 2, owner: "ada"), where: Note.keys.rank == 1)
      let numbers = [first.write, later.write]
      try await bob.store.submit(Note(id: "a", text: "bob's", rank: 1, owner: "ada")).reached(.durable)
      var events = ada.store.events.makeAsyncIterator()
      try await ada.mend()
      var ended: [Int64?] = []
      while ended.count < 2, let event = await events.next() {
        switch event {
        case .outboxMutationFailed(let mutation, _), .outboxMutationProcessed(let mutation):
          ended.append(mutation.write)
        default: break
        }
      }
      #expect(ended == [first.write, later.write])
      #expect(first.write != numbers[0] && later.write != numbers[1])
      try await bob.sees([Note(id: "a", text: "mine", rank: 2, owner: "ada")])
    }
  }
}
