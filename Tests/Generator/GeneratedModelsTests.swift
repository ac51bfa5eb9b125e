import Foundation
import MartletDataStore
import MartletGenerateFiles
import MartletGenerator
import Testing

/// The structs of Golden/Harbour.swift at work in a store.
@Suite struct GeneratedModelsTests {
  @Test func `generated models are stored and found, with every kind of field and relation`() async throws {
    let store = try DataStore(models: Models.all, storage: .inMemory)
    try await store.save(Harbour(code: "RTM", opensAt: try Temporal.Time(iso8601: "06:00")))
    var ship = Ship(name: "Martlet", harbour: LazyReference(id: "RTM"))
    #expect(ship.status == .moored && ship.crew == 3 && !ship.isTowed && ship.id.count == 36)
    ship.built = Temporal.Date(year: 1999, month: 12, day: 31)
    ship.position = Position(
      latitude: 51.9, longitude: 4.1, fix: Fix(at: try Temporal.DateTime(iso8601: "2026-11-22T10:00Z")))
    ship.track = [Position(latitude: 1, longitude: 2)]
    ship.tags = ["fast", nil]
    ship.self_ = "own"
    let stored = try await store.save(ship)
    #expect(stored == ship)
    try await store.save(Voyage(year: 2026, number: "1", ship: LazyReference(stored)))
    let keys = Ship.keys
    let found = try await store.query(
      Ship.self, where: keys.status == ShipStatus.moored && keys.harbour == "RTM" && keys.tags.contains("fast"))
    #expect(found == [ship])
    #expect(try await store.query(Ship.self, where: keys.voyages.with(Voyage.keys.year == 2026)) == [ship])
    #expect(try await store.query(Voyage.self, byIdentifier: .identifier(2026, "1"))?.ship.get() == ship)
    let early = try await store.query(
      Ship.self, where: keys.built < (try #require(Temporal.Date(year: 2000, month: 1, day: 1))))
    #expect(early.count == 1)
    let error = await #expect(throws: DataStoreError.self) { try await store.delete(ship) }
    #expect(error?.code == .constraint)
    try await store.delete(Voyage.self, where: .all)
    try await store.delete(Harbour.self, withId: "RTM")
    #expect(try await store.query(Ship.self).isEmpty)
  }

  @Test func `the order of a schema's types does not show in its models`() throws {
    let types = ["type A @model { id: ID! b: B @belongsTo }", "type B @model { id: ID! x: E }", "enum E { ONE }"]
    func text(_ parts: [String]) throws -> [GeneratedFile] {
      let folder = try Place.temporary()
      defer { try? FileManager.default.removeItem(at: folder) }
      try parts.joined(separator: "\n").write(
        to: folder.appendingPathComponent("schema.graphql"), atomically: true, encoding: .utf8)
      var settings = GenerateSettings()
      settings.operations = ["none"]
      settings.generator.models = true
      let generator = GenerateFolder(folder.path, settings: settings)
      return try generator.generate(try generator.schema()).files
    }
    let forth = try text(types)
    #expect(forth.map(\.name).sorted() == ["A.swift", "B.swift", "Models.swift", "SchemaTypes.swift"])
    #expect(try text(types.reversed()) == forth)
  }
}
