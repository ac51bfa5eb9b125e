import Martlet
import MartletGraphQLClient
import MartletJSON
import MartletServer
import MartletSyncEngine
import MartletVocabulary
import Testing

@testable import MartletDataStore

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

  @Test func `P15: credentials that are refused again and again at a sync's pages do not empty the store`() async throws
  {
    try await SyncedServer.with { server in
      // Without resumption every model is synced again after a loss.
      let ada = try SyncedStore(server, resumes: false)
      defer { ada.close() }
      let note = try await ada.store.save(Note(id: "n1", text: "kept"))
      try await ada.settle()
      try await ada.cut()
      ada.wire.refuseQueries(with: Array(repeating: Self.error("UNAUTHENTICATED"), count: 4))
      try await ada.mend()
      try await ada.settle()
      #expect(try await ada.store.query(Note.self).map(\.id) == [note.id])
    }
  }

  @Test func `a write at which the server fails every time is refused, and those after it are sent`() async throws {
    try await SyncedServer.with { server in
      let ada = try SyncedStore(server) { configuration in
        configuration.retryDelay = .milliseconds(1)
        configuration.retryJitter = .zero
        configuration.faultedAttempts = 3
      }
      try await ada.settle()
      ada.wire.refuse(with: [Self.error("OVERLOADED")] + [JSONValue](repeating: Self.error("INTERNAL"), count: 3))
      let poison = try await ada.store.submit(Note(id: "a", text: "one"))
      let next = try await ada.store.submit(Note(id: "b", text: "two"))
      #expect(await poison.end(before: .durable) == .rejected(.refused(code: "INTERNAL", message: "no")))
      try await next.reached(.durable)
      try await ada.sees([Note(id: "b", text: "two", owner: "ada")])
      let letters = try await ada.store.rejectedWrites()
      #expect(letters.map(\.modelId) == ["a"])
      // The server has recovered: the write is not lost.
      try await ada.store.retry(try #require(letters.first))
      try await ada.sees([Note(id: "a", text: "one", owner: "ada"), Note(id: "b", text: "two", owner: "ada")])
      ada.close()
    }
  }

  @Test func `a refused change of a record that is gone cannot be made again, and stays until it is discarded`()
    async throws
  {
    try await SyncedServer.with { server in
      let ada = try SyncedStore(server)
      defer { ada.close() }
      let note = try await ada.store.save(Note(id: "a", text: "one"))
      try await ada.settle()
      ada.wire.refuse(with: [Self.error("NO_CODE_OF_OURS")])
      let refused = try await ada.store.submit(Note(id: "a", text: "two"))
      _ = await refused.end(before: .durable)
      try await ada.store.delete(note)
      try await ada.settle()
      let letter = try #require(try await ada.store.rejectedWrites().first)
      let error = await #expect(throws: DataStoreError.self) { try await ada.store.retry(letter) }
      #expect(error?.code == .recordMissing)
      #expect(error?.message == "the Note that the refused write \(letter.write) changes is not there")
      #expect(try await ada.store.rejectedWrites() == [letter])
      try await ada.store.discard(letter)
      #expect(try await ada.store.rejectedWrites().isEmpty)
    }
  }

  @Test func `a deletion of a record that the caller no longer has waits for nothing of the feed`() async throws {
    let schema = """
      type Folder @model @versioned { id: ID! name: String! }
      type Note @model @versioned @auth(rules: [{allow: owner}]) { id: ID! text: String! rank: Int }
      """
    try await SyncedServer.with(
      schema, { configuration in configuration.limits.session.positionInterval = nil }
    ) { server in
      let ada = try SyncedStore(server)
      defer { ada.close() }
      try await ada.store.submit(Note(id: "a", text: "one")).reached(.durable)
      try await ada.settle()
      let note = try #require(try await ada.store.query(Note.self, byId: "a"))
      try await ada.cut()
      let deletion = try await ada.store.submitDeletion(of: note)
      _ = try await server.transaction { _ = try $0.update("Note", ["id": "a", "owner": "bob"]) }
      try await ada.mend()
      try await deletion.reached(.seen)
      #expect(try await ada.store.rejectedWrites().isEmpty)
    }
  }

  @Test(arguments: [429, 502, 503, 504])
  func `a status that says that the server has no capacity never drops a write`(status: Int) async throws {
    try await SyncedServer.with { server in
      let ada = try SyncedStore(server) { configuration in
        configuration.retryDelay = .milliseconds(1)
        configuration.retryJitter = .zero
        configuration.faultedAttempts = 1
      }
      try await ada.settle()
      var plain = GraphQLClientError(.httpStatus, "HTTP \(status)", status: status)
      plain.retryAfter = .milliseconds(2)
      let coded = GraphQLClientError(
        .operationFailed, "no", status: status, errors: [["message": "no", "extensions": ["code": "NO_CODE_OF_OURS"]]])
      ada.wire.fail(with: [plain, coded])
      try await ada.store.submit(Note(id: "a", text: "one")).reached(.durable)
      #expect(try await ada.store.rejectedWrites().isEmpty)
      ada.close()
    }
  }

  @Test func `the pause that a server asks for by Retry-After is what the engine waits for at least`() throws {
    var error = GraphQLClientError(.httpStatus, "HTTP 503", status: 503)
    error.retryAfter = .seconds(7)
    #expect(SyncFailures.failure(error) == .overloaded(retryAfter: .seconds(7)))
    error.errors = [["message": "no", "extensions": ["code": "OVERLOADED"]]]
    #expect(SyncFailures.failure(error) == .overloaded(retryAfter: .seconds(7)))
    error.errors = [["message": "no", "extensions": ["code": "OVERLOADED", "retryAfterMs": 20]]]
    #expect(SyncFailures.failure(error) == .overloaded(retryAfter: .milliseconds(20)))
    var random = SeededRandom(seed: 1)
    let delay = RetryDelay()
    #expect(delay.delay(after: 1, retryAfter: .seconds(7), using: &random) == .seconds(7))
    #expect(delay.delay(after: 1, retryAfter: .seconds(1 << 30), using: &random) == .seconds(3_600))
  }

  @Test func `a write that meets old credentials is sent again with fresh ones, and refused where the rules refuse it`()
    async throws
  {
    try await SyncedServer.with { server in
      let ada = try SyncedStore(server)
      try await ada.settle()
      ada.wire.refuse(with: [Self.error("UNAUTHENTICATED")])
      try await ada.store.submit(Note(id: "a", text: "one")).reached(.durable)
      ada.wire.refuse(with: [Self.error("FORBIDDEN"), Self.error("FORBIDDEN")])
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

  /// The server may have forgotten the client with its log, and would take the first write for a new one: a list had
  /// its element twice.
  @Test(arguments: [EventGap.Reason.retention, .viewChanged])
  func `a first write that was sent before the log was cut is sent again as a new one`(reason: EventGap.Reason)
    async throws
  {
    try await SyncedServer.with { server in
      let ada = try SyncedStore(server)
      defer { ada.close() }
      try await ada.settle()
      let gate = ada.wire.gateMutations()
      let write = try await ada.store.submit(Note(id: "a", text: "one"))
      try await write.reached(.sent)
      while ada.wire.writes.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
      ada.wire.interrupt(reason)
      while ada.wire.writes.count < 2 { try await Task.sleep(for: .milliseconds(1)) }
      gate.finish()
      try await write.reached(.durable)
      #expect(ada.wire.writes.map { $0["number"] } == [1, 1])
      #expect(ada.wire.writes.map { $0["resend"]?.bool ?? false } == [false, reason == .retention])
    }
  }

  @Test func `P15: a deletion that a relation forbids is refused for that, and not for a condition that it has not`()
    async throws
  {
    let schema = """
      type Author @model @versioned {
        id: ID! name: String! books: [Book] @hasMany(indexName: "byAuthor", fields: ["id"], onDelete: RESTRICT)
      }
      type Book @model @versioned {
        id: ID! title: String! authorID: ID @index(name: "byAuthor")
        author: Author @belongsTo(fields: ["authorID"])
      }
      """
    try await SyncedServer.with(schema) { server in
      let ada = try SyncedStore(server, models: [Book.self, Author.self])
      defer { ada.close() }
      try await ada.settle()
      let author = Author(id: "x", name: "n")
      try await ada.store.save(author)
      try await ada.store.submit(Book(id: "b", title: "t", author: LazyReference(id: "x"))).reached(.seen)
      let end = await (try await ada.store.submitDeletion(of: author)).end(before: .durable)
      guard case .rejected(.refused(code: "REFERENCED", _))? = end else {
        Issue.record("\(String(describing: end))")
        return
      }
      #expect(try await ada.store.query(Author.self).map(\.id) == ["x"])
    }
  }
}
