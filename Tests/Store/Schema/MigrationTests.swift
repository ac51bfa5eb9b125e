import MartletChangeFeed
import MartletJSON
import MartletModelSDL
import MartletModels
import MartletSQLite
import MartletStore
import Testing

@Suite struct MigrationTests {
  /// A folder with one flight, written under `Models.all`.
  private func folder() throws -> MemoryFiles {
    let fixture = try StoreFixture()
    try fixture.commit(.create(model: Models.flight, record: Models.flight("a", delay: 5, code: "X")))
    return fixture.files
  }

  private func shapes(_ change: (inout RecordShape) -> Void) -> [RecordShape] {
    var flights = Models.flights
    change(&flights)
    return [flights, Models.legs, Models.mixedShape]
  }

  private func refusal(_ shapes: [RecordShape]) throws -> String {
    let files = try folder()
    let before = files.contents
    let error = try #require(throws: StoreError.self) { try StoreFixture(files: files, shapes: shapes, term: 2) }
    #expect(error.code == .migration)
    // A refused migration leaves everything as it was.
    let again = try StoreFixture(files: MemoryFiles(before), term: 2)
    #expect(try again.get(Models.flight, "a") != nil)
    return error.message
  }

  @Test func `an added field has its default in old records and in old log entries`() throws {
    let added = shapes { $0.columns.append(Models.column("status", required: true, default: "onTime")) }
    let fixture = try StoreFixture(files: try folder(), shapes: added, term: 2)
    #expect(try fixture.get(Models.flight, "a")?.record.values.last == "onTime")
    #expect(try fixture.log().first?.record?.image.values.last == "onTime")
    let receipt = try fixture.commit(
      .update(RecordUpdate(model: Models.flight, key: Models.key("a"), values: [(5, "late")])))
    #expect(receipt.records.first?.record?.values.last == "late")
  }

  @Test func `an added optional field is null`() throws {
    let added = shapes {
      $0.columns.insert(Models.column("note"), at: 1); $0.indexes = []; $0.cascades = []
    }
    let fixture = try StoreFixture(files: try folder(), shapes: added, term: 2)
    #expect(try fixture.get(Models.flight, "a")?.record.values == ["a", nil, "JFK", 5, nil, "X"])
    #expect(try fixture.log().first?.record?.image.values == ["a", nil, "JFK", 5, nil, "X"])
  }

  @Test func `a required field without a default is refused while there are records`() throws {
    let message = try refusal(shapes { $0.columns.append(Models.column("status", required: true)) })
    #expect(message.contains("Flight.status is new and required, and 1 record has no value"))
  }

  @Test func `an optional field becomes required only when every record has it`() throws {
    #expect(try refusal(shapes { $0.columns[3].isRequired = true }).contains("Flight.gate is now required"))
    let filled = shapes { $0.columns[2].isRequired = true }
    #expect(throws: Never.self) { try StoreFixture(files: try folder(), shapes: filled, term: 2) }
    let defaulted = shapes {
      $0.columns[3].isRequired = true
      $0.columns[3].defaultValue = "A1"
    }
    let fixture = try StoreFixture(files: try folder(), shapes: defaulted, term: 2)
    #expect(try fixture.get(Models.flight, "a")?.record[3] == "A1")
  }

  @Test func `a type change is refused with both types and a way out`() throws {
    let message = try refusal(
      shapes {
        $0.columns[2].signature = "text"
        $0.columns[2].storage = .text
      })
    #expect(message.contains("Flight.delay is integer in the data folder and text in the schema"))
  }

  @Test func `a key change is refused`() throws {
    #expect(try refusal(shapes { $0.key = [0, 1] }).contains("the primary key of Flight is (id)"))
  }

  @Test func `fields and models are dropped only when asked for`() throws {
    var dropped = shapes {
      $0.columns.remove(at: 3)
      $0.indexes = [RecordIndex(name: "byOrigin", fields: [1, 2], isUnique: false)]
      $0.cascades = []
    }
    dropped.remove(at: 1)
    let message = try refusal(dropped)
    #expect(message.contains("field Flight.gate") && message.contains("model Leg with all its records"))
    #expect(message.contains("@mapsTo"))
    let files = try folder()
    let fixture = try StoreFixture(files: files, shapes: dropped, term: 2, dropping: true)
    #expect(try fixture.get(Models.flight, "a")?.record.values == ["a", "JFK", 5, "X"])
    #expect(try fixture.log().first?.record?.image.values == ["a", "JFK", 5, "X"])
    // A field of the same name that comes back is a new one: old values do not return.
    let back = try StoreFixture(files: files, term: 3)
    #expect(try back.get(Models.flight, "a")?.record.values == ["a", "JFK", 5, nil, "X"])
  }

  @Test func `changes of a dropped model are left out, and no event of another`() throws {
    let files = try folder()
    let fixture = try StoreFixture(
      files: files, shapes: [Models.legs, Models.mixedShape], term: 2, dropping: true)
    let range = try fixture.read { snapshot throws(StoreError) in try snapshot.log(after: 0) }
    guard case .changes(let changes, let last, _, _) = range else {
      Issue.record("the other models' subscribers cannot read on")
      return
    }
    #expect(changes.isEmpty && last > 0)
  }

  @Test func `a renamed model and a renamed field keep their data by their mapping`() throws {
    let renamed = shapes {
      $0.name = "Departure"
      $0.columns[1].field = "from"
    }
    let fixture = try StoreFixture(files: try folder(), shapes: renamed, term: 2)
    #expect(try fixture.get(Models.flight, "a")?.record[1] == "JFK")
  }

  @Test func `indexes come and go`() throws {
    let files = try folder()
    let other = shapes { $0.indexes = [RecordIndex(name: "byGate", fields: [3], isUnique: false)] }
    let fixture = try StoreFixture(files: files, shapes: other, term: 2)
    let plan = try fixture.read { snapshot throws(StoreError) in
      try snapshot.plan(ListQuery(model: Models.flight, equal: [(3, "B1")]))
    }
    #expect(plan.joined().contains { $0.contains("index_Flight_byGate") })
    #expect(throws: Never.self) { try StoreFixture(files: files, term: 3) }
  }

  @Test func `names that differ only in case are refused`() throws {
    #expect(try refusal(shapes { $0.columns.append(Models.column("Gate")) }).contains("only in case"))
  }

  @Test func `the same schema changes nothing`() throws {
    let files = try folder()
    _ = try StoreFixture(files: files, term: 2)
    let database = try Database(path: StoreFormat.databaseName, on: files)
    let revisions = try database.statement("SELECT count(*) FROM martlet_revisions")
    #expect(try revisions.step())
    #expect(revisions.int64(0) == 1)
  }

  @Test func `shapes follow a schema's models`() throws {
    let schema = try ModelSchema(
      """
      type Airport @model { id: ID! name: String! tags: [String] departures: [Flight] @hasMany(fields: ["id"], indexName: "byOrigin") }
      type Flight @model @mapsTo(name: "Departure") {
        id: ID! origin: ID! @index(name: "byOrigin", sortKeyFields: ["at"]) at: AWSDateTime! delay: Int = 0 fare: Float
      }
      """.replacing(" = 0", with: " @default(value: \"0\")"))
    let shapes = RecordShape.shapes(of: schema)
    let flight = try #require(shapes.first { $0.name == "Flight" })
    #expect(flight.tableName == "Departure")
    #expect(flight.indexes.map(\.name).contains("byOrigin"))
    let storages = flight.columns.prefix(5).map(\.storage)
    #expect(storages == [.text, .text, .text, .integer, .real])
    let options = StoreOptions(
      term: 1, clock: ManualClock().clock, writer: ManualExecutor(), readers: [ManualExecutor()])
    #expect(throws: Never.self) { try Store(.memory(MemoryFiles()), schema: schema, options: options) }
  }

  // MARK: Fills

  @Test func `a field that becomes required with a default is never null in old records and old events`() throws {
    let files = try folder()
    try StoreFixture(files: files, term: 2).commit(
      .update(RecordUpdate(model: Models.flight, key: Models.key("a"), values: [(2, 6)])))
    let filled = shapes {
      $0.columns[3].isRequired = true
      $0.columns[3].defaultValue = "A1"
    }
    let fixture = try StoreFixture(files: files, shapes: filled, term: 3)
    #expect(try fixture.log().map { $0.record?.image[3] } == ["A1", "A1"])
    // Nullable again: what is written from now on may be null, and what was filled stays.
    let relaxed = try StoreFixture(files: files, term: 4)
    try relaxed.commit(.create(model: Models.flight, record: Models.flight("b")))
    #expect(try relaxed.log().map { $0.record?.image[3] } == ["A1", "A1", .null])
    // Required once more with another default: each entry has the value that its record was given.
    let again = shapes {
      $0.columns[3].isRequired = true
      $0.columns[3].defaultValue = "B2"
    }
    let last = try StoreFixture(files: files, shapes: again, term: 5)
    #expect(try last.log().map { $0.record?.image[3] } == ["A1", "A1", "B2"])
    #expect(try ["a", "b"].map { try last.get(Models.flight, .string($0))?.record[3] } == ["A1", "B2"])
  }

  @Test func `the values before an update of a field that has become required are not null either`() throws {
    let files = try folder()
    try StoreFixture(files: files, term: 2).commit(
      .update(RecordUpdate(model: Models.flight, key: Models.key("a"), values: [(3, "C3")])))
    let filled = shapes {
      $0.columns[3].isRequired = true
      $0.columns[3].defaultValue = "A1"
    }
    let fixture = try StoreFixture(files: files, shapes: filled, term: 3)
    #expect(try fixture.log().last?.record?.old.map(\.value) == ["A1"])
  }

  // MARK: Case

  @Test func `a model or field that is renamed in case only keeps its data, its indexes and its events`() throws {
    let files = try folder()
    var renamed = shapes {
      $0.name = "FLIGHT"
      $0.tableName = "FLIGHT"
      $0.columns[1] = Models.column("Origin", required: true)
    }
    renamed[1].columns[0] = Models.column("Flight", required: true)
    let fixture = try StoreFixture(files: files, shapes: renamed, term: 2)
    #expect(try fixture.get(Models.flight, "a")?.record.values == ["a", "JFK", 5, nil, "X"])
    #expect(try fixture.log().first?.record?.image[1] == "JFK")
    try fixture.commit(.update(RecordUpdate(model: Models.flight, key: Models.key("a"), values: [(1, "LAX")])))
    let plan = try fixture.read { snapshot throws(StoreError) in
      try snapshot.plan(ListQuery(model: Models.flight, equal: [(1, "LAX")]))
    }
    #expect(plan.joined().contains { $0.lowercased().contains("index_flight_byorigin") })
    try fixture.commit(.delete(model: Models.flight, key: Models.key("a")))
    // And back, after a restart.
    let back = try StoreFixture(files: files, term: 3)
    try back.commit(.create(model: Models.flight, record: Models.flight("b")))
    #expect(try back.get(Models.flight, "b")?.record[1] == "JFK")
  }
}
