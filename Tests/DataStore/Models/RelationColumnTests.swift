import Foundation
import MartletDataStore
import Testing

private enum ByHand {
  struct Port: StoredModel, Equatable {
    var country: String
    var number: Int
    var calls = List<Call>()
    enum CodingKeys: String, ModelKey { case country, number, calls }
    static let modelName = "Port"
    static var primaryKey: [CodingKeys] { [.country, .number] }
    static var relations: [CodingKeys: ModelAssociation] {
      [.calls: .hasMany(Call.self, fields: "portCountry", "portNumber")]
    }
  }

  struct Ship: StoredModel, Equatable {
    var calls = List<Call>()
    var id: String
    var name: String
    var papers = LazyReference<Papers>(nil)
    var sister = LazyReference<Ship>(nil)
    enum CodingKeys: String, ModelKey { case calls, id, name, papers, sister }
    static let modelName = "Ship"
    static var relations: [CodingKeys: ModelAssociation] {
      [
        .calls: .hasMany(Call.self, fields: "shipID"), .papers: .hasOne(Papers.self, fields: "shipID"),
        .sister: .belongsTo(Ship.self, fields: "sisterID"),
      ]
    }
  }

  struct Papers: StoredModel, Equatable {
    var id: String
    var shipID: String
    enum CodingKeys: String, ModelKey { case id, shipID }
    static let modelName = "Papers"
  }

  struct Call: StoredModel, Equatable {
    var id: String
    var ship: LazyReference<Ship>
    var port: LazyReference<Port>
    enum CodingKeys: String, ModelKey { case id, ship, port }
    static let modelName = "Call"
    static var relations: [CodingKeys: ModelAssociation] {
      [
        .ship: .belongsTo(Ship.self, fields: "shipID"),
        .port: .belongsTo(Port.self, fields: "portCountry", "portNumber"),
      ]
    }
  }
}

/// The same tables, read by the types themselves.
private enum Own {
  struct Ship: StoredModel, Equatable {
    var calls = List<Call>()
    var id: String
    var name: String
    var papers = LazyReference<ByHand.Papers>(nil)
    var sister = LazyReference<Ship>(nil)
    typealias CodingKeys = ByHand.Ship.CodingKeys
    static let modelName = "Ship"
    static var relations: [CodingKeys: ModelAssociation] { ByHand.Ship.relations }
  }

  struct Call: StoredModel, Equatable {
    var id: String
    var ship: LazyReference<Ship>
    var port: LazyReference<ByHand.Port>
    typealias CodingKeys = ByHand.Call.CodingKeys
    static let modelName = "Call"
    static var relations: [CodingKeys: ModelAssociation] { ByHand.Call.relations }
  }
}

extension Own.Ship: RowDecodable {
  init(from row: inout ModelRow) throws {
    let calls: List<Own.Call> = try row.nextList()
    let id: String = try row.next()
    let name: String = try row.next()
    let papers: LazyReference<ByHand.Papers> = try row.nextReference()
    let sister: LazyReference<Own.Ship> = try row.nextReference()
    self.init(calls: calls, id: id, name: name, papers: papers, sister: sister)
  }
}

extension Own.Call: RowDecodable {
  init(from row: inout ModelRow) throws {
    id = try row.next()
    ship = try row.next()
    port = try row.nextReference()
  }
}

@Suite struct RelationColumnTests {
  private static let long = "a ship whose name is longer than what a short text holds"

  private static func fill(_ store: DataStore) async throws {
    try await store.save(ByHand.Port(country: "NL", number: 7))
    for id in ["a", long] {
      try await store.save(
        ByHand.Ship(id: id, name: "the \(id)", sister: id == "a" ? LazyReference(nil) : LazyReference(id: "a")))
      try await store.save(ByHand.Papers(id: "papers of \(id)", shipID: id))
      try await store.save(
        ByHand.Call(
          id: "call of \(id)", ship: LazyReference(id: id),
          port: LazyReference(ByHand.Port(country: "NL", number: 7))))
    }
    try await store.save(ByHand.Call(id: "nowhere", ship: LazyReference(nil), port: LazyReference(nil)))
  }

  /// One store's file, opened with types of both kinds.
  private static func stores() async throws -> (byHand: DataStore, own: DataStore, remove: () -> Void) {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let path = folder.appendingPathComponent("ships.sqlite").path
    let byHand = try DataStore(
      models: [ByHand.Port.self, ByHand.Ship.self, ByHand.Papers.self, ByHand.Call.self], storage: .file(path))
    try await fill(byHand)
    let own = try DataStore(
      models: [ByHand.Port.self, Own.Ship.self, ByHand.Papers.self, Own.Call.self], storage: .file(path))
    return (byHand, own, { try? FileManager.default.removeItem(at: folder) })
  }

  @Test func `a type that reads its row itself has other relations than by Codable`() async throws {
    let (byHand, own, remove) = try await Self.stores()
    defer { remove() }
    let calls = try await byHand.query(ByHand.Call.self)
    let ownCalls = try await own.query(Own.Call.self)
    #expect(calls.count == 3)
    #expect(ownCalls.map(\.id) == calls.map(\.id))
    #expect(ownCalls.map(\.ship.identifiers) == calls.map(\.ship.identifiers))
    #expect(ownCalls.map(\.port.identifiers) == calls.map(\.port.identifiers))
    #expect(calls.last?.port.identifiers == nil, "a reference to nothing holds a key")
    #expect(calls.first?.port.identifiers == ["country": "NL", "number": 7])
    let ships = try await byHand.query(ByHand.Ship.self)
    let ownShips = try await own.query(Own.Ship.self)
    #expect(ownShips.map(\.id) == ships.map(\.id))
    #expect(ownShips.map(\.sister.identifiers) == ships.map(\.sister.identifiers))
    for (ship, ownShip) in zip(ships, ownShips) {
      #expect(try await ship.calls.get().map(\.id) == ["call of \(ship.id)"])
      #expect(try await ownShip.calls.get().map(\.id) == ["call of \(ship.id)"])
      #expect(try await ship.papers.get()?.id == "papers of \(ship.id)")
      #expect(try await ownShip.papers.get()?.id == "papers of \(ship.id)")
    }
    #expect(try await ownCalls.first?.ship.require().name == calls.first?.ship.require().name)
    #expect(try await ownCalls.first?.port.require().number == 7)
  }

  @Test func `live queries show other relations than queries do`() async throws {
    let (_, own, remove) = try await Self.stores()
    defer { remove() }
    let stream = own.observeQuery(for: Own.Ship.self)
    var snapshots = stream.makeAsyncIterator()
    let items = try #require(try await snapshots.next()).items
    #expect(items.map(\.id) == ["a", Self.long])
    #expect(items[1].sister.identifiers == ["id": "a"])
    #expect(items[0].sister.identifiers == nil)
    for ship in items {
      #expect(try await ship.calls.get().map(\.id) == ["call of \(ship.id)"])
      #expect(try await ship.papers.get()?.id == "papers of \(ship.id)")
    }
    stream.cancel()
  }
}
