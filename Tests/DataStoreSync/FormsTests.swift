import Martlet
import MartletDataStore
import MartletJSON
import MartletServer
import Testing

/// A place whose address the server knows more of, with a date that the server may have in another form.
struct Spot: Model, Equatable {
  struct Address: Codable, Sendable, Equatable {
    var street: String?
    var city: String?
  }
  var id: String
  var name: String
  var tags: [String]?
  var at: Temporal.DateTime?
  var address: Address?
  enum CodingKeys: String, ModelKey { case id, name, tags, at, address }
  static var nested: [CodingKeys: ModelSelection] { [.address: .embedded("street city")] }

  static func schema(_ strategy: String) -> String {
    """
    type Address { street: String city: String zip: String }
    type Spot @model @versioned(conflicts: \(strategy)) @auth(rules: [{allow: private}]) {
      id: ID! name: String! tags: [String] at: AWSDateTime address: Address
    }
    """
  }

  /// Returns the record of a store once it is there.
  static func first(_ store: DataStore) async throws -> Spot? {
    for try await snapshot in store.observeQuery(for: Spot.self) { if let spot = snapshot.items.first { return spot } }
    return nil
  }
}

/// Values that the server has in another form than this program writes, or with more in them.
@Suite(.timeLimit(.minutes(1))) struct FormsTests {
  private static let creation = """
    mutation { createSpot(input: {id: "a", name: "n", at: "2024-05-01T10:00:00Z",
      address: {street: "s", city: null, zip: "z"}}) { id } }
    """
  private static let reading = "{ getSpot(id: \"a\") { address { street city zip } } }"

  private func send(_ kind: GraphQLOperationKind, _ document: String, _ store: SyncedStore) async throws -> JSONValue {
    try await store.wire.send(OperationRequest(kind, document: document)).value
  }

  /// From the feed a record comes with all that the server has, from a page with what the type names.
  @Test(arguments: ["AUTOMERGE", "OPTIMISTIC_CONCURRENCY"], [true, false])
  func `an edit sends fields that were not changed, or takes members that the type lacks`(
    _ strategy: String, _ isFed: Bool
  ) async throws {
    try await SyncedServer.with(Spot.schema(strategy)) { server in
      let ada = try SyncedStore(server, models: [Spot.self])
      let bob = try SyncedStore(server, as: "bob", models: [Spot.self])
      defer {
        ada.close()
        bob.close()
      }
      if isFed { try await ada.settle() }
      _ = try await send(.mutation, Self.creation, bob)
      try await ada.settle()
      var spot = try #require(try await Spot.first(ada.store))
      spot.name = "m"
      try await ada.store.submit(spot).reached(.durable)
      #expect(ada.wire.uploads.last?.variables["input"]?["address"] == nil)
      #expect(ada.wire.uploads.last?.variables["input"]?["at"] == nil)
      spot.address?.street = "new"
      try await ada.store.submit(spot).reached(.seen)
      #expect(try await ada.store.query(Spot.self) == [spot])
      let stored = try await send(.query, Self.reading, bob)["data"]?["getSpot"]?["address"]
      #expect(stored == ["street": "new", "city": .null, "zip": "z"])
      #expect(try await ada.store.rejectedWrites().isEmpty)
    }
  }

  @Test func `an edit of one member of an embedded value undoes, or is undone by, that of another member`()
    async throws
  {
    try await SyncedServer.with(Spot.schema("AUTOMERGE")) { server in
      let ada = try SyncedStore(server, models: [Spot.self])
      let bob = try SyncedStore(server, as: "bob", models: [Spot.self])
      defer {
        ada.close()
        bob.close()
      }
      try await ada.settle()
      try await bob.settle()
      var spot = Spot(id: "a", name: "n", address: .init(street: "s", city: "c"))
      try await ada.store.submit(spot).reached(.seen)
      var other = try #require(try await Spot.first(bob.store))
      try await ada.cut()
      spot.address?.street = "ada's"
      let mine = try await ada.store.submit(spot)
      other.address?.city = nil
      try await bob.store.submit(other).reached(.durable)
      try await ada.mend()
      try await mine.reached(.seen)
      #expect(try await ada.store.query(Spot.self).map(\.address) == [.init(street: "ada's", city: nil)])
    }
  }

  @Test func `P15: a write whose condition names the key is refused, because no condition of a server can`()
    async throws
  {
    try await SyncedServer.with(Spot.schema("AUTOMERGE")) { server in
      let ada = try SyncedStore(server, models: [Spot.self])
      defer { ada.close() }
      try await ada.settle()
      let spot = Spot.keys
      try await ada.store.submit(Spot(id: "a", name: "n")).reached(.seen)
      try await ada.store.submit(Spot(id: "a", name: "m"), where: spot.id == "a").reached(.durable)
      #expect(ada.wire.uploads.last?.variables["condition"] ?? .null == .null)
      try await ada.store.submit(
        Spot(id: "a", name: "o"), where: spot.id == "a" && !(spot.id == "b" || spot.name == "x")
      ).reached(.durable)
      #expect(ada.wire.uploads.last?.variables["condition"]?.object != nil)
      try await ada.store.delete(Spot.self, where: spot.id == "a")
      try await ada.settle()
      #expect(try await ada.store.rejectedWrites().isEmpty)
    }
  }

  @Test func `P15: the repeated change of a list or an embedded value takes what others have added meanwhile`()
    async throws
  {
    try await SyncedServer.with(Spot.schema("OPTIMISTIC_CONCURRENCY")) { server in
      let ada = try SyncedStore(server, models: [Spot.self]) { $0.conflictHandler = { _ in .retryLocal } }
      let bob = try SyncedStore(server, as: "bob", models: [Spot.self])
      defer {
        ada.close()
        bob.close()
      }
      try await ada.settle()
      try await bob.settle()
      var spot = Spot(id: "a", name: "n", tags: ["a"], address: .init(street: "s", city: "c"))
      try await ada.store.submit(spot).reached(.seen)
      var other = try #require(try await Spot.first(bob.store))
      try await ada.cut()
      spot.tags = ["a", "ada"]
      spot.address?.street = "ada's"
      let first = try await ada.store.submit(spot, where: Spot.keys.name == "n")
      spot.tags = ["a", "ada", "later"]
      let second = try await ada.store.submit(spot)
      other.tags = ["a", "bob"]
      other.address?.city = "bob's"
      try await bob.store.submit(other).reached(.durable)
      try await ada.mend()
      try await first.reached(.seen)
      try await second.reached(.seen)
      let found = try #require(try await ada.store.query(Spot.self, byId: "a"))
      #expect(found.tags == ["a", "bob", "ada", "later"])
      #expect(found.address == .init(street: "ada's", city: "bob's"))
    }
  }
}
