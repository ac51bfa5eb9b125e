import Foundation
import Martlet
import MartletRuntime
import MartletSQLiteStore
import MartletServer
import Testing

/// What the client's store shows of data that its caller may no longer see, also in another run without a network.
@Suite(.timeLimit(.minutes(1))) struct WithdrawnStoreTests {
  struct Notes: GraphQLQuery {
    static let operationName = "Notes"
    static let operationDocument = "query Notes { listNotes { items { id text } } }"

    struct Data: Codable, Sendable {
      struct Page: Codable, Sendable {
        struct Note: Codable, Sendable {
          var id: String
          var text: String?
        }
        var items: [Note]
      }
      var listNotes: Page?
    }
  }

  private static func schema(_ rule: String) -> String {
    "type Note @model @auth(rules: [{allow: owner}\(rule)]) { id: ID! text: String owner: String team: String }"
  }
  private static let open = schema(#", {allow: groups, groups: ["staff"], operations: [read]}"#)
  /// Shows the caller other records than before.
  private static let narrow = schema(#", {allow: groups, groupsField: "team", operations: [read]}"#)
  /// Shows it none, because it is not signed in as an owner.
  private static let closed = """
    type Note @model @auth(rules: [{allow: groups, groups: ["nobody"]}]) {
      id: ID! text: String owner: String team: String
    }
    """

  private func with(_ body: (RealServer, GraphQLClient, String) async throws -> Void) async throws {
    let server = try RealServer { configuration in
      configuration.schema = Self.open
      configuration.access = .onConnect()
      configuration.onConnect = { _ in .accept(as: Identity(provider: .oidc, subject: "eve", groups: ["staff"])) }
    }
    defer { server.remove() }
    _ = try await server.server.transaction { transaction in
      try transaction.create("Note", ["id": "a", "text": "secret", "owner": "ada", "team": "red"])
    }
    let file = server.folder + "-store.sqlite"
    defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file + end) } }
    var configuration = ConnectionConfiguration()
    configuration.reconnect.firstDelay = .milliseconds(20)
    let client = try GraphQLClient(
      url: server.url, configuration: configuration, store: GraphQLStore(cache: try SQLiteNormalizedCache(file: file)))
    let found = try await client.fetch(query: Notes(), cachePolicy: .networkOnly)
    #expect(found.data?.listNotes?.items.map(\.id) == ["a"])
    let kept = try await client.fetch(query: Notes(), cachePolicy: .cacheOnly)
    #expect(kept.data?.listNotes?.items.count == 1)
    try await body(server, client, file)
    await server.server.stop()
    client.shutDown()
    // Another run, without a network.
    #expect(try await Self.shown(GraphQLStore(cache: try SQLiteNormalizedCache(file: file))) == [])
  }

  /// The notes that a store shows by itself.
  private static func shown(_ store: GraphQLStore) async throws -> [String] {
    try await store.withinReadTransaction { transaction in
      let data = try? transaction.read(Notes())
      return data?.listNotes?.items.map(\.id) ?? []
    }
  }

  @Test(arguments: [false, true]) func `P10: other rights end what the store shows, before the gap is seen`(
    isAway: Bool
  ) async throws {
    try await with { server, client, _ in
      let live = client.subscribe("subscription { onUpdateNote { id } }")
      try await live.ready()
      if isAway { client.pause() }
      try await server.server.reload(schema: Self.narrow)
      if isAway { client.resume() }
      for try await event in live {
        #expect(event.gap?.reason == .viewChanged)
        break
      }
      #expect(try await Self.shown(client.store) == [])
      // The server says what is left.
      let found = try await client.fetch(query: Notes(), cachePolicy: .cacheFirst)
      #expect(found.source == .server && found.data?.listNotes?.items.isEmpty == true)
    }
  }

  @Test(arguments: [false, true]) func `P10: withdrawn rights end what the store shows, before the error is seen`(
    isAway: Bool
  ) async throws {
    try await with { server, client, _ in
      let live = client.subscribe("subscription { onUpdateNote { id } }")
      try await live.ready()
      if isAway { client.pause() }
      try await server.server.reload(schema: Self.closed)
      if isAway { client.resume() }
      await #expect(throws: GraphQLClientError.self) { for try await _ in live {} }
      #expect(try await Self.shown(client.store) == [])
    }
  }

  @Test(arguments: [false, true]) func `P10: credentials that are refused end what the store shows`(
    isAway: Bool
  ) async throws {
    let isOpen = Lock(true)
    let server = try RealServer { configuration in
      configuration.schema = Self.open
      configuration.access = .onConnect()
      configuration.onConnect = { _ in
        guard isOpen.withLock({ $0 }) else { return .refuse() }
        let eve = Identity(provider: .oidc, subject: "eve", groups: ["staff"])
        return .accept(as: eve, validFor: isAway ? nil : .milliseconds(500))
      }
    }
    defer { server.remove() }
    _ = try await server.server.transaction { transaction in
      try transaction.create("Note", ["id": "a", "text": "secret", "owner": "ada", "team": "red"])
    }
    var configuration = ConnectionConfiguration()
    configuration.reconnect.firstDelay = .milliseconds(20)
    let client = try GraphQLClient(url: server.url, configuration: configuration, store: GraphQLStore())
    let live = client.subscribe("subscription { onUpdateNote { id } }")
    try await live.ready()
    _ = try await client.fetch(query: Notes(), cachePolicy: .networkOnly)
    #expect(try await Self.shown(client.store) == ["a"])
    if isAway { client.pause() }
    isOpen.withLock { $0 = false }
    if isAway { client.resume() }
    await #expect(throws: GraphQLClientError.self) { for try await _ in live {} }
    #expect(try await Self.shown(client.store) == [])
    client.shutDown()
    await server.server.stop()
  }

  @Test func `P10: a field that the server refuses takes the place of what the store had`() async throws {
    try await with { server, client, _ in
      try await server.server.reload(schema: Self.closed)
      let found = try await client.fetch(query: Notes(), cachePolicy: .networkOnly)
      #expect(!found.errors.isEmpty)
      #expect(try await Self.shown(client.store) == [])
    }
  }
}
