import MartletChangeFeed
import MartletJSON
import MartletModelSDL
import MartletModels
import MartletSQLite
import MartletStore
import Testing

/// A schema that no longer allows what records hold is refused with their names.
struct ValueCheckTests {
  private static let before = """
    type Flight @model { id: ID! status: Status legs: [Status] gates: [String] place: Place stops: [Place!] }
    enum Status { ON_TIME LATE }
    type Place { city: String street: Street }
    type Street { name: String }
    """

  /// Opens `files` under a schema with one text replaced by another.
  private func open(
    _ files: MemoryFiles, _ old: String = "", _ new: String = "", term: UInt64, name: String = ""
  ) throws -> (StoreFixture, ModelDefinition) {
    let schema = try ModelSchema(old.isEmpty ? Self.before : Self.before.replacing(old, with: new))
    let fixture = try StoreFixture(files: files, shapes: RecordShape.shapes(of: schema), term: term) {
      $0.schemaName = name
    }
    return (fixture, try #require(schema.models.first))
  }

  private func folder(_ name: String = "") throws -> MemoryFiles {
    let files = MemoryFiles()
    let (fixture, model) = try open(files, term: 1, name: name)
    let rows: [[String: JSONValue]] = [
      ["id": "a", "status": "LATE", "legs": ["ON_TIME", "LATE"], "gates": ["A", nil]],
      ["id": "b", "status": "ON_TIME", "place": ["city": "Rome", "street": [:]], "gates": ["A"]],
      ["id": "c", "stops": [["city": "Oslo"], ["city": nil]], "place": ["city": "Bern", "street": nil]],
      ["id": "d"],
    ]
    for row in rows {
      let record = Record(
        values: model.fields.map { row[$0.name] ?? ($0.isRequired ? "2026-11-22T00:00:00Z" : .null) })
      try fixture.commit(.create(model: model.number, record: record))
    }
    return files
  }

  private func refusal(_ old: String, _ new: String) throws -> String {
    let files = try folder()
    let error = #expect(throws: StoreError.self) { try open(files, old, new, term: 2) }
    #expect(error?.code == .migration)
    // The old schema still serves.
    #expect(try open(files, term: 3).0.get(0, "a") != nil)
    return error?.message ?? ""
  }

  @Test func `an enum value that records use cannot be removed, in a field or in a list`() throws {
    let message = try refusal("ON_TIME LATE", "ON_TIME")
    #expect(message.contains("Flight.status holds values in 1 record that the schema no longer allows"))
    #expect(message.contains("Flight a: LATE is no longer a value of its enum"))
    #expect(message.contains("Flight a: LATE in [1] is no longer a value of its enum"))
  }

  @Test func `a member of an embedded type cannot become required while values lack it, at any depth`() throws {
    let message = try refusal("city: String", "city: String!")
    #expect(message.contains("Flight.stops holds values in 1 record"))
    #expect(message.contains("Flight c: [1].city is missing"))
    #expect(!message.contains("Flight.place"))
    // A member that no value can have.
    let new = try refusal("type Place {", "type Place { zip: String!")
    #expect(new.contains("Flight.place holds values in 2 records"))
    for reason in ["Flight b: zip is missing", "Flight c: zip is missing", "Flight c: [0].zip is missing"] {
      #expect(new.contains(reason), "\(new)")
    }
    let deeper = try refusal("name: String", "name: String!")
    #expect(
      deeper.contains("Flight.place holds values in 1 record") && deeper.contains("Flight b: street.name is missing"))
  }

  @Test(arguments: [
    ("city: String", "city: Int", "Flight b: Rome in city is not of the type Int"),
    ("city: String", "city: AWSEmail", "Flight b: Rome in city is not of the type AWSEmail"),
    ("city: String", "city: [String]", "Flight b: Rome in city is not a list"),
    ("city: String", "city: Street", "Flight b: Rome in city is not an object"),
    ("street: Street", "street: String", "Flight b: an object in street is not of the type String"),
    ("street: Street", "street: Status", "Flight b: an object in street is no longer a value of its enum"),
  ])
  func `a member of an embedded type cannot have another type than its values`(
    old: String, new: String, reason: String
  ) throws {
    let message = try refusal(old, new)
    #expect(message.contains(reason), "\(message)")
  }

  @Test func `list elements cannot become required while a list holds null`() throws {
    let message = try refusal("[String]", "[String!]")
    #expect(
      message.contains("Flight.gates holds values in 1 record") && message.contains("Flight a: element 1 is null"))
  }

  @Test func `what records do not use may go, and repaired records do not stop a migration`() throws {
    let files = try folder()
    let (wider, model) = try open(files, "ON_TIME LATE", "ON_TIME LATE GONE", term: 2)
    for (id, field) in [("a", "status"), ("a", "legs")] {
      let position = try #require(model.position(of: field))
      try wider.commit(
        .update(RecordUpdate(model: 0, key: Models.key(.string(id)), values: [(position, .null)])))
    }
    let (narrow, _) = try open(files, "ON_TIME LATE", "ON_TIME", term: 3)
    #expect(try narrow.get(0, "a") != nil)
  }

  @Test func `records are read for another schema only, and its name and text are in the log`() throws {
    let files = try folder("one")
    // The same name means the same schema: nothing is looked at, although this one would be refused.
    let (same, _) = try open(files, "ON_TIME LATE", "ON_TIME", term: 2, name: "one")
    #expect(try same.get(0, "a") != nil)
    #expect(throws: StoreError.self) { try open(files, "ON_TIME LATE", "ON_TIME", term: 3, name: "two") }
    let head = same.store.position.head
    let (other, _) = try open(files, "ON_TIME LATE", "ON_TIME LATE GONE", term: 4, name: "three")
    // A term and a schema without steps.
    #expect(other.store.position.head == head + 2)
    let (again, _) = try open(files, "ON_TIME LATE", "ON_TIME LATE GONE", term: 5, name: "three")
    #expect(again.store.position.head == head + 3)
  }

  @Test func `a schema that is put in force while the store is open is checked as at opening`() async throws {
    let (fixture, _) = try open(try folder(), term: 2)
    let narrow = RecordShape.shapes(of: try ModelSchema(Self.before.replacing("ON_TIME LATE", with: "ON_TIME")))
    let error = await #expect(throws: StoreError.self) { try await fixture.migrate(to: narrow, schema: "two") }
    #expect(error?.code == .migration && error?.message.contains("Flight a") == true)
    let wide = RecordShape.shapes(of: try ModelSchema(Self.before.replacing("ON_TIME LATE", with: "ON_TIME LATE GONE")))
    try await fixture.migrate(to: wide, schema: "three")
  }
}
