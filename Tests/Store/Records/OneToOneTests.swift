import MartletChangeFeed
import MartletJSON
import MartletModelSDL
import MartletModels
import MartletRuntime
import MartletSQLite
import MartletStore
import MartletVocabulary
import Testing

/// What `@hasOne` gives to one record, no other one has.
struct OneToOneTests {
  private static let plain = """
    type User @model { id: ID! profileId: ID }
    type Profile @model { id: ID! }
    """
  private static let unique = """
    type User @model { id: ID! profileId: ID profile: Profile @hasOne(fields: ["profileId"]) }
    type Profile @model { id: ID! }
    """

  private struct Open {
    var fixture: StoreFixture
    var user: ModelDefinition
  }

  private func open(
    _ source: String, _ files: MemoryFiles = MemoryFiles(), term: UInt64 = 1, allowsDuplicates: Bool = false,
    warnings: Lock<[String]> = Lock([])
  ) throws -> Open {
    let schema = try ModelSchema(source)
    let fixture = try StoreFixture(files: files, shapes: RecordShape.shapes(of: schema), term: term) { options in
      options.allowsDuplicates = allowsDuplicates
      options.onWarning = { text in warnings.withLock { $0.append(text) } }
    }
    return Open(fixture: fixture, user: try #require(schema.models.first { $0.name == "User" }))
  }

  private func create(_ id: String, _ profile: JSONValue, _ open: Open) throws -> Result<Receipt, StoreError> {
    let values: [String: JSONValue] = ["id": .string(id), "profileId": profile]
    let record = Record(
      values: open.user.fields.map { values[$0.name] ?? ($0.isRequired ? "2026-11-22T00:00:00Z" : .null) })
    return try #require(
      try open.fixture.commit([WriteRequest(.create(model: open.user.number, record: record))]).first)
  }

  @Test func `a second record with the same one is refused, and the error names both`() throws {
    let open = try open(Self.unique)
    #expect(try create("a", "p", open).errorCode == nil)
    let message = "would have the same profileId, which @hasOne of User.profile forbids"
    let conflict = StoreError.Conflict(model: open.user.number, key: Models.key("a"), version: 1)
    #expect(try create("b", "p", open) == .failure(StoreError(.notUnique, "User b and User a \(message)", conflict)))
    for id in ["c", "d"] { #expect(try create(id, .null, open).errorCode == nil) }
    let field = try #require(open.user.position(of: "profileId"))
    let update = WriteOperation.update(
      RecordUpdate(model: open.user.number, key: Models.key("c"), values: [(field, "p")]))
    #expect(
      try open.fixture.commit([WriteRequest(update)]).first
        == .failure(StoreError(.notUnique, "User c and User a \(message)", conflict)))
    try open.fixture.commit(.delete(model: open.user.number, key: Models.key("a")))
    #expect(try create("b", "p", open).errorCode == nil)
  }

  @Test func `the side that refers to the other is the one that is unique`() throws {
    let schema = try ModelSchema(
      """
      type User @model { id: ID! profile: Profile @hasOne(references: ["userId"]) }
      type Profile @model { id: ID! userId: ID }
      """)
    let shapes = RecordShape.shapes(of: schema)
    func unique(_ name: String) -> [RecordIndex] {
      shapes.first { $0.name == name }?.indexes.filter(\.isUnique) ?? []
    }
    #expect(unique("User").isEmpty)
    #expect(unique("Profile").map(\.relation) == ["User.profile"])
  }

  @Test func `duplicates refuse the migration, or are served with a warning until they are repaired`() throws {
    let files = MemoryFiles()
    do {
      let open = try open(Self.plain, files)
      for (id, profile) in [("a", "p"), ("b", "p"), ("c", "q")] { _ = try create(id, .string(profile), open) }
    }
    let named =
      "1 value of User.profileId is in several records, which @hasOne of User.profile allows for one record "
      + "only, such as User a and User b"
    let error = try #require(throws: StoreError.self) { try open(Self.unique, files, term: 2) }
    #expect(error.code == .migration && error.message.contains(named) && error.message.contains("--allow-duplicates"))
    let warnings = Lock<[String]>([])
    do {
      let open = try open(Self.unique, files, term: 3, allowsDuplicates: true, warnings: warnings)
      #expect(warnings.withLock { $0.map { $0.contains(named) } } == [true])
      #expect(try create("d", "q", open).errorCode == nil)
      for id in ["b", "d"] { try open.fixture.commit(.delete(model: open.user.number, key: Models.key(.string(id)))) }
    }
    // Repaired: unique from now on, without a word.
    let repaired = try open(Self.unique, files, term: 4, warnings: warnings)
    #expect(warnings.withLock { $0.count } == 1)
    #expect(try create("e", "q", repaired).errorCode == .notUnique)
  }
}
