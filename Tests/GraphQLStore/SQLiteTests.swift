import Foundation
import MartletGraphQLStore
import MartletJSON
import MartletSQLite
import MartletSQLiteStore
import MartletVocabulary
import Testing

@Suite struct SQLiteTests {
  static let document = "{ flights { id gate } }"

  private func store(
    _ files: MemoryFiles, _ configure: (inout GraphQLStoreConfiguration) -> Void = { _ in }
  ) throws -> GraphQLStore {
    var configuration = GraphQLStoreConfiguration()
    configuration.clock = { .seconds(1_000) }
    configure(&configuration)
    return GraphQLStore(cache: try SQLiteNormalizedCache(path: "/cache", on: files), configuration: configuration)
  }
  private func write(_ store: GraphQLStore, _ document: String, _ data: JSONValue) throws {
    try store.publish(StorePayload(data: data), of: StoreOperation(document: document))
  }
  private func read(_ store: GraphQLStore, _ document: String) throws -> JSONValue? {
    try store.read(StoreOperation(document: document))?.data
  }

  @Test func `records of every shape survive reopening`() throws {
    let files = MemoryFiles()
    let document = "{ grid { id me { deep { blob } } } flights { id gate } none size f(n: \"é\\n\") }"
    let data: JSONValue = [
      "grid": [
        [
          ["id": 1, "__typename": "C", "me": ["__typename": "M", "deep": ["blob": ["r": "x", "v": [1, [nil]]]]]], nil,
        ], nil,
        [],
      ],
      "flights": [flight("1")], "none": nil, "size": 1.0, "f": ["l": []],
    ]
    let usage: CacheUsage
    do {
      let store = try store(files)
      try write(store, document, data)
      usage = store.usage
    }
    let again = try store(files)
    #expect(again.usage == usage)
    #expect(
      try read(again, document) == [
        "grid": [[["id": 1, "me": ["deep": ["blob": ["r": "x", "v": [1, [nil]]]]]], nil], nil, []],
        "flights": [["id": "1", "gate": "A1"]], "none": nil, "size": 1.0, "f": ["l": []],
      ])
  }

  @Test func `what was learned about types survives reopening`() throws {
    let files = MemoryFiles()
    let document = "{ pets { id ... on Cat { lives } ... on Pet { name } } }"
    let data: JSONValue = [
      "pets": [
        ["__typename": "Cat", "id": 1, "lives": 9, "name": "Tom"], ["__typename": "Dog", "id": 2, "name": "Rex"],
      ]
    ]
    try write(try store(files), document, data)
    #expect(
      try read(try store(files), document)
        == ["pets": [["id": 1, "lives": 9, "name": "Tom"], ["id": 2, "name": "Rex"]]])
  }

  @Test func `a real file survives reopening`() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("store-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("cache.sqlite")
    try write(GraphQLStore(cache: try SQLiteNormalizedCache(fileURL: file)), Self.document, ["flights": [flight("1")]])
    let again = GraphQLStore(cache: try SQLiteNormalizedCache(file: file.path))
    #expect(try read(again, Self.document) == ["flights": [["id": "1", "gate": "A1"]]])
  }

  @Test func `a file that is none of ours is a typed error and stays as it is`() throws {
    let garbage = MemoryFiles(["/cache": Array(repeating: 7, count: 5_000)])
    let error = #expect(throws: GraphQLStoreError.self) { try SQLiteNormalizedCache(path: "/cache", on: garbage) }
    #expect(error?.code == .invalidFile)
    #expect(garbage.contents(of: "/cache") == Array(repeating: 7, count: 5_000))

    let foreign = MemoryFiles()
    try Database(path: "/cache", on: foreign).execute("CREATE TABLE records (mine)")
    let refused = #expect(throws: GraphQLStoreError.self) { try SQLiteNormalizedCache(path: "/cache", on: foreign) }
    #expect(refused?.code == .invalidFile)
    #expect(try Database(path: "/cache", on: foreign).prepare("SELECT mine FROM records").step() == false)

    let nowhere = #expect(throws: GraphQLStoreError.self) { try SQLiteNormalizedCache(file: "/no/such/folder/cache") }
    #expect(nowhere?.code == .invalidFile)
  }

  @Test func `a file of another layout starts over, and a row that cannot be read is a miss`() throws {
    let files = MemoryFiles()
    try write(try store(files), Self.document, ["flights": [flight("1")]])
    try Database(path: "/cache", on: files).execute("UPDATE records SET fields = 'x' WHERE key = 'Flight:1'")
    #expect(try read(try store(files), Self.document) == nil)
    try Database(path: "/cache", on: files).execute("PRAGMA user_version=99")
    #expect(try store(files).usage == CacheUsage(records: 0, bytes: 0))
  }

  @Test func `a full disk fails the write as a typed error and changes nothing`() throws {
    let files = MemoryFiles()
    let time = TestClock()
    let store = try store(files) { $0.clock = { time.now } }
    try write(store, Self.document, ["flights": [flight("1")]])
    let usage = store.usage
    files.setCapacity(files.totalBytes)
    let error = #expect(throws: GraphQLStoreError.self) {
      try write(store, Self.document, ["flights": .array((1...500).map { flight(String($0), gate: "Z") })])
    }
    #expect(error?.code == .backend)
    #expect(store.usage == usage)
    // The cache is off until a write succeeds, and then lacks the records whose changes it missed.
    #expect(try read(store, Self.document) == nil)
    files.setCapacity(nil)
    time.advance(1)
    try write(store, Self.document, ["flights": [flight("1")]])
    #expect(try read(store, Self.document) == ["flights": [["id": "1", "gate": "A1"]]])
  }

  @Test func `eviction by count, bytes and age, and garbage collection`() throws {
    let time = TestClock()
    let store = try store(MemoryFiles()) {
      $0.limits.records = 20
      $0.limits.age = .seconds(80)
      $0.clock = { time.now }
    }
    for id in 1...100 { try write(store, "mutation { add { id gate } }", ["add": flight(String(id))]) }
    #expect(store.usage.records == 20)
    try write(store, Self.document, ["flights": [flight("100")]])
    #expect(store.usage.records == 20)
    #expect(try store.collectGarbage() == 17)
    #expect(try read(store, Self.document) != nil)
    time.advance(81)
    #expect(try read(store, Self.document) == nil)
    try write(store, "mutation { add { id gate } }", ["add": flight("7")])
    #expect(store.usage.records == 2)
    try store.clear()
    #expect(store.usage == CacheUsage(records: 0, bytes: 0))
  }

  @Test func `records that were read are not the least recently used`() async throws {
    let store = try store(MemoryFiles()) { $0.limits.records = 10 }
    for id in 1...9 { try write(store, "mutation { add { id gate } }", ["add": flight(String(id))]) }
    _ = try await store.withinReadTransaction { try $0.record(CacheKey("Flight:1")) }
    for id in 10...13 { try write(store, "mutation { add { id gate } }", ["add": flight(String(id))]) }
    let kept = try await store.withinReadTransaction { transaction in
      try (1...13).filter { try transaction.record(CacheKey("Flight:\($0)")) != nil }
    }
    #expect(kept.contains(1))
    #expect(!kept.contains(2))
  }

  @Test func `memory and file answer alike over random documents`() throws {
    for seed in 1...8 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      let world = World(seed: seed, asksForIDs: true)
      let memory = Bench()
      let file = try store(MemoryFiles())
      for _ in 0..<5 {
        let document = world.document(&random)
        let (text, data) = (World.text(document), world.answer(document, withIdentity: true))
        try memory.write(text, data)
        try write(file, text, data)
        #expect(try read(file, text) == memory.read(text), "seed \(seed), document \(text)")
      }
    }
  }

  @Test func `watchers, optimistic updates and transactions work over a file`() async throws {
    let store = try store(MemoryFiles())
    try write(store, Self.document, ["flights": [flight("1")]])
    var iterator = store.watch(
      StoreOperation(document: Self.document), policy: .cacheOnly, fetch: Network().fetch
    ).makeAsyncIterator()
    #expect(WatchTests.gates(try await iterator.next()) == ["A1"])
    let update = try store.updateOptimistically { try $0.setFields(["gate": "O"], of: CacheKey("Flight:1")) }
    #expect(WatchTests.gates(try await iterator.next()) == ["O"])
    try update.rollBack()
    #expect(WatchTests.gates(try await iterator.next()) == ["A1"])
    try await store.withinReadWriteTransaction { try $0.setFields(["gate": "T"], of: CacheKey("Flight:1")) }
    #expect(WatchTests.gates(try await iterator.next()) == ["T"])
  }
}
