import Foundation
import Martlet
import MartletDataStore
import MartletRuntime
import MartletServer
import Testing

/// What a store shows of records that its caller may no longer see, because the server refuses the caller.
@Suite(.timeLimit(.minutes(1))) struct WithdrawnStoreTests {
  private static let closed = """
    type Folder @model @versioned @auth(rules: [{allow: groups, groups: ["nobody"]}]) { id: ID! name: String! }
    type Note @model @versioned @auth(rules: [{allow: groups, groups: ["nobody"]}]) {
      id: ID! text: String! rank: Int owner: String
    }
    """

  /// The way to a server that accepts its callers until it is closed.
  private struct Door: Sendable {
    let isOpen = Lock(true)

    func close() { isOpen.withLock { $0 = false } }
    func open() { isOpen.withLock { $0 = true } }

    @Sendable func admit(_ request: ConnectionRequest) -> ConnectionAnswer {
      guard isOpen.withLock({ $0 }) else { return .refuse() }
      let name = request.payload["Authorization"]?.string ?? ""
      return .accept(as: Identity(provider: .function, subject: name, groups: []), validFor: .milliseconds(300))
    }
  }

  /// A store with a file whose caller has two notes from the server, of which one has an unsent change, and an unsent
  /// note of its own. `refuse` makes the server refuse the caller, and returns when the store's sync has begun again.
  private func with(
    _ adjust: (inout ServerConfiguration) -> Void = { _ in },
    refuse: (GraphQLServer, SyncedStore) async throws -> Void, accept: (GraphQLServer) async throws -> Void
  ) async throws {
    try await SyncedServer.with(SyncedServer.schema, adjust) { server in
      try await TemporaryFolder.with { folder in
        let storage = DataStoreStorage.file(folder + "/store")
        let own = Note(id: "own", text: "unsent")
        let ada = try SyncedStore(server, storage: storage, Self.adjust)
        for note in [Note(id: "a", text: "secret"), Note(id: "b", text: "secret")] { try await ada.store.save(note) }
        try await ada.settle()
        let (a, b) = (
          Note(id: "a", text: "secret", owner: "ada"), Note(id: "b", text: "secret", owner: "ada")
        )
        try await ada.sees([a, b])
        try await ada.cut()
        try await ada.store.save(Note(id: "b", text: "changed", owner: "ada"))
        try await ada.store.save(own)
        var snapshots = ada.store.observeQuery(for: Note.self, sort: .ascending(Note.keys.id)).makeAsyncIterator()
        #expect(try await snapshots.next()?.items.map(\.text) == ["secret", "changed", "unsent"])
        let removals = ada.store.observe(Note.self)
        try await removals.ready()

        try await refuse(server, ada)
        // The live query and the observer see the rows go; what only this store has stays.
        while let snapshot = try await snapshots.next(), Array(snapshot.items) != [own] {}
        var removed: Set<String> = []
        for try await event in removals {
          #expect(event.mutationType == .delete)
          removed.insert(event.modelId)
          if removed.count == 2 { break }
        }
        #expect(removed == ["a", "b"])
        #expect(try await ada.store.query(Note.self) == [own])
        #expect(try await ada.store.rejectedWrites().isEmpty)
        #expect(ada.store.syncStatus.pendingCount == 2)
        try await ada.store.stop()
        ada.close()

        // Another run, without a network.
        let offline = try SyncedStore(server, storage: storage, Self.adjust)
        offline.wire.cut()
        #expect(try await offline.store.query(Note.self) == [own])
        #expect(try await offline.store.query(Note.self, byId: "a") == nil)
        try await offline.wait { $0.pendingCount == 2 }

        // The caller is accepted again: all comes back, and nothing of what was written was lost.
        try await accept(server)
        try await offline.mend()
        try await offline.settle()
        try await offline.sees([
          a, Note(id: "b", text: "changed", owner: "ada"), Note(id: "own", text: "unsent", owner: "ada"),
        ])
        #expect(try await offline.store.rejectedWrites().isEmpty)
        try await offline.store.stop()
        offline.close()
      }
    }
  }

  private static func adjust(_ configuration: inout DataStoreConfiguration) {
    configuration.retryDelay = .milliseconds(1)
    configuration.retryJitter = .zero
  }

  @Test(arguments: [false, true])
  func `P10, P15: credentials that are refused for good take the server's rows, also offline, and no unsent write`(
    isLive: Bool
  ) async throws {
    let door = Door()
    try await with {
      $0.onConnect = door.admit
    } refuse: { server, ada in
      if isLive { try await ada.mend() }
      door.close()
      if !isLive { try await ada.mend() }
    } accept: { _ in
      door.open()
    }
  }

  @Test func `P10, P15: rules that refuse the caller take the server's rows, also offline, and no unsent write`()
    async throws
  {
    try await with { server, ada in
      try await server.reload(schema: Self.closed)
      try await ada.mend()
    } accept: { server in
      try await server.reload(schema: SyncedServer.schema)
    }
  }

  @Test func `records come back to the store that lost them when the caller is accepted again`() async throws {
    try await SyncedServer.with { server in
      let ada = try SyncedStore(server, Self.adjust)
      defer { ada.close() }
      let note = Note(id: "a", text: "secret", owner: "ada")
      try await ada.store.save(Note(id: "a", text: "secret"))
      try await ada.settle()
      for _ in 0..<2 {
        try await server.reload(schema: Self.closed)
        try await ada.sees([])
        try await server.reload(schema: SyncedServer.schema)
        try await ada.store.networkIsReachable()
        try await ada.sees([note])
      }
    }
  }

  @Test func `one refusal that fresh credentials end leaves the rows where they are`() async throws {
    let refusals = Lock(0)
    try await SyncedServer.with(SyncedServer.schema) { configuration in
      configuration.onConnect = { request in
        let isRefused = refusals.withLock { refusals in
          defer { refusals = max(0, refusals - 1) }
          return refusals > 0
        }
        let name = request.payload["Authorization"]?.string ?? ""
        return isRefused ? .refuse() : .accept(as: Identity(provider: .function, subject: name, groups: []))
      }
    } _: { server in
      let ada = try SyncedStore(server, Self.adjust)
      defer { ada.close() }
      try await ada.store.save(Note(id: "a", text: "secret"))
      try await ada.settle()
      let removals = ada.store.observe(Note.self)
      try await removals.ready()
      try await ada.cut()
      refusals.withLock { $0 = 1 }
      try await ada.mend()
      try await ada.settle()
      #expect(try await ada.store.query(Note.self).map(\.id) == ["a"])
      // Nothing was removed on the way: the next event is this one's.
      try await ada.store.save(Note(id: "z", text: "next"))
      for try await event in removals {
        #expect(event.modelId == "z")
        break
      }
    }
  }
}
