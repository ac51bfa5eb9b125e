import Foundation
import Martlet
import MartletDataStore
import MartletGraphQLClient
import MartletJSON
import MartletServer
import Testing

/// A natural number as a type, so that there are as many models as a test needs.
protocol Natural: Sendable { static var number: Int { get } }
enum Zero: Natural { static let number = 0 }
enum Even<Half: Natural>: Natural { static var number: Int { 2 * Half.number } }
enum Odd<Half: Natural>: Natural { static var number: Int { 2 * Half.number + 1 } }

struct Row<Number: Natural>: Model {
  var id: String
  enum CodingKeys: String, ModelKey { case id }
  static var modelName: String { "Row\(Number.number)x" }
}

/// Plain AppSync endpoints.
@Suite(.timeLimit(.minutes(1))) struct AppSyncTests {
  private func store(
    _ endpoint: ScriptedAppSync, _ adjust: (inout DataStoreConfiguration) -> Void = { _ in }
  ) throws -> DataStore {
    var configuration = DataStoreConfiguration()
    adjust(&configuration)
    return try DataStore(
      models: [Folder.self, Note.self], storage: .inMemory,
      sync: DataStoreSync(endpoint, documents: .appSync, configuration: configuration))
  }

  private func settle(_ store: DataStore) async throws {
    try await store.start()
    for await status in store.syncStatuses where status.isSettled { return }
  }

  private func sees(_ store: DataStore, _ texts: [String]) async throws {
    let note = Note.keys
    for try await snapshot in store.observeQuery(for: Note.self, sort: .ascending(note.id))
    where snapshot.items.map(\.text) == texts { return }
  }

  @Test func `a store syncs with three subscriptions for each model and documents that AppSync knows`() async throws {
    let endpoint = ScriptedAppSync()
    endpoint.write("Note", ["id": "a", "text": "one"])
    endpoint.write("Note", ["id": "gone", "text": "x"], deleted: true)
    let store = try store(endpoint)
    try await settle(store)
    #expect(
      endpoint.subscribedFields.sorted() == [
        "onCreateFolder", "onCreateNote", "onDeleteFolder", "onDeleteNote", "onUpdateFolder", "onUpdateNote",
      ])
    try await sees(store, ["one"])
    endpoint.write("Note", ["id": "b", "text": "two"])
    try await sees(store, ["one", "two"])
    endpoint.write("Note", ["id": "a", "text": "uno"])
    try await sees(store, ["uno", "two"])
    endpoint.write("Note", ["id": "b"], deleted: true)
    try await sees(store, ["uno"])
    let handle = try await store.submit(Note(id: "a", text: "mine"))
    try await handle.reached(.durable)
    try await store.delete(Note(id: "a", text: "mine"))
    try await settle(store)
    try await sees(store, [])
  }

  @Test func `P15: a field that AppSync hides from the caller costs neither the records that have it nor a write`()
    async throws
  {
    let endpoint = ScriptedAppSync()
    endpoint.write("Note", ["id": "a", "text": "one", "rank": 7])
    endpoint.hide("rank")
    let store = try store(endpoint)
    try await settle(store)
    try await sees(store, ["one"])
    let handle = try await store.submit(Note(id: "b", text: "two"))
    try await handle.reached(.durable)
    try await sees(store, ["one", "two"])
    #expect(try await store.rejectedWrites().isEmpty)
    #expect(try await store.query(Note.self, byId: "a")?.rank == nil)
  }

  @Test func `a conflict of AppSync is answered by the handler`() async throws {
    let endpoint = ScriptedAppSync()
    endpoint.write("Note", ["id": "a", "text": "one"])
    let store = try store(endpoint) { configuration in
      configuration.conflictHandler = { conflict in
        conflict.attempt == 0 ? .retryLocal : .applyRemote
      }
    }
    try await settle(store)
    endpoint.interfere(["id": "a", "text": "theirs"])
    let handle = try await store.submit(Note(id: "a", text: "mine"))
    try await settle(store)
    try await handle.reached(.durable)
    try await sees(store, ["mine"])
    #expect(try await store.rejectedWrites().isEmpty)
    #expect(endpoint.documents.filter { $0.hasPrefix("mutation Update") }.count == 2)
  }

  @Test func `a creation whose answer was lost is applied once and not refused`() async throws {
    let endpoint = ScriptedAppSync()
    let store = try store(endpoint)
    try await settle(store)
    endpoint.loseAnswer()
    let handle = try await store.submit(Note(id: "a", text: "mine", rank: 1))
    try await handle.reached(.durable)
    try await settle(store)
    try await sees(store, ["mine"])
    #expect(try await store.rejectedWrites().isEmpty)
    #expect(endpoint.documents.filter { $0.hasPrefix("mutation Create") }.count == 2)
  }

  @Test func `a creation where another record is there already is kept as refused`() async throws {
    let endpoint = ScriptedAppSync()
    let store = try store(endpoint)
    try await settle(store)
    endpoint.interfere(["id": "a", "text": "theirs"])
    let handle = try await store.submit(Note(id: "a", text: "mine"))
    await #expect(throws: WriteHandle.Ended.self) { try await handle.reached(.durable) }
    #expect(try await store.rejectedWrites().map(\.reason) == [.conditionFailed])
    try await sees(store, ["theirs"])
  }

  @Test func `a creation that was acknowledged after its model's pages were read stays`() async throws {
    let endpoint = ScriptedAppSync()
    endpoint.write("Note", ["id": "a", "text": "one"])
    let store = try store(endpoint) { $0.syncInterval = .seconds(-1) }
    try await settle(store)
    try await store.stop()
    endpoint.silence()
    let (reads, read) = AsyncStream.makeStream(of: Void.self)
    let (gives, give) = AsyncStream.makeStream(of: Void.self)
    endpoint.holdPages("Note") {
      read.yield()
      for await _ in gives { break }
    }
    try await store.start()
    for await _ in reads { break }
    try await store.submit(Note(id: "b", text: "two")).reached(.durable)
    give.yield()
    try await settle(store)
    try await sees(store, ["one", "two"])
  }

  @Test func `a server that refuses every page's token is asked again after a pause only`() async throws {
    let endpoint = ScriptedAppSync()
    endpoint.refusePages("Note")
    let store = try store(endpoint) { $0.retryDelay = .seconds(3_600) }
    let events = store.events
    try await store.start()
    for await case .failed(let error) in events {
      #expect(error.message.contains("The token has ended."))
      break
    }
    #expect(endpoint.documents.filter { $0.contains("syncNotes") }.count == 2)
  }

  private static func next<Half: Natural>(_ half: Half.Type) -> [any Natural.Type] {
    [Even<Half>.self, Odd<Half>.self]
  }

  private static func model<Number: Natural>(_ number: Number.Type) -> any Model.Type { Row<Number>.self }

  private static func rows() -> [any Model.Type] {
    var numbers: [any Natural.Type] = [Odd<Zero>.self]
    var place = 0
    while numbers.count < 40 {
      let half = numbers[place]
      numbers += next(half)
      place += 1
    }
    return numbers.prefix(40).map { model($0) }
  }

  private static func sees<M: Model>(_ type: M.Type, in store: DataStore) async throws {
    for try await snapshot in store.observeQuery(for: type) where !snapshot.items.isEmpty { return }
  }

  @Test(arguments: [DataStoreSync.Documents.martlet, .appSync])
  func `40 models sync: there is no limit of 33`(documents: DataStoreSync.Documents) async throws {
    let models = Self.rows()
    let schema = models.map { "type \($0.modelName) @model @versioned { id: ID! }" }.joined(separator: "\n")
    try await SyncedServer.with(schema) { server in
      var connection = ConnectionConfiguration()
      connection.credentials = { _ in .bearer("ada") }
      if documents == .appSync { connection.dialect = .appSync }
      let client = try GraphQLClient(
        url: try #require(URL(string: "ws://127.0.0.1:\(server.port)/graphql")), configuration: connection)
      let wire = CutTransport(client.networkTransport)
      let store = try DataStore(
        models: models, storage: .inMemory, sync: DataStoreSync(wire, documents: documents))
      try await settle(store)
      // The server takes 100 subscriptions of a connection, and refuses the next one.
      #expect(ServerConfiguration(schema: schema).limits.session.operationsPerConnection == 100)
      #expect(wire.subscriptions == (documents == .appSync ? 120 : 1))
      let last = models[models.count - 1]
      let name = last.modelName
      _ = try await server.transaction { _ = try $0.create(name, ["id": "x"]) }
      try await Self.sees(last, in: store)
      client.shutDown()
    }
  }
}
