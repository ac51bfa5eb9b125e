import MartletGraphQLOperations
import MartletGraphQLStore
import MartletJSON
import Testing

@Suite struct OperationTests {
  struct BoardQuery: GraphQLQuery {
    struct Data: Codable, Sendable, Hashable {
      struct Flight: Codable, Sendable, Hashable {
        var id: String
        var gate: String?
        var next: [Flight]?
      }
      var flights: [Flight]
    }
    static let operationName = "Board"
    static let operationDocument = "query Board { flights { id gate next { id gate } } }"
  }

  private func bench() throws -> Bench {
    let bench = Bench()
    try bench.write(
      BoardQuery.operationDocument,
      [
        "flights": [
          ["__typename": "Flight", "id": "1", "gate": "A", "next": [flight("2", gate: "B")]],
          ["__typename": "Bus", "id": "1", "gate": "X", "next": []],
        ]
      ])
    return bench
  }

  @Test func `a typed query is read`() async throws {
    let data = try await bench().store.withinReadTransaction { try $0.read(BoardQuery()) }
    #expect(
      data
        == .init(flights: [
          .init(id: "1", gate: "A", next: [.init(id: "2", gate: "B")]), .init(id: "1", gate: "X", next: []),
        ]))
  }

  @Test func `a typed update keeps objects what they are`() async throws {
    let bench = try bench()
    try await bench.store.withinReadWriteTransaction { transaction in
      try transaction.update(BoardQuery()) { data in
        data.flights[0].next?.append(.init(id: "3", gate: "N"))
        data.flights[0].gate = "C"
      }
    }
    // The appended one has its sibling's type, and the changed one is the same record for every query.
    #expect(try await bench.record("Flight:3")?[CacheField("gate")] == .leaf("N"))
    #expect(try await bench.record("Flight:1")?[CacheField("gate")] == .leaf("C"))
    let data = try await bench.store.withinReadTransaction { try $0.read(BoardQuery()) }
    #expect(data.flights[0].next?.map(\.id) == ["2", "3"])
  }

  @Test func `a typed update can set nil, and leaves alone what the type does not have`() async throws {
    struct Board: GraphQLQuery {
      struct Data: Codable, Sendable, Hashable {
        struct Flight: Codable, Sendable, Hashable {
          var id: String
          var gate: String?
        }
        var flights: [Flight]
        var first: Flight?
      }
      static let operationName = "Board"
      static let operationDocument = "query Board { flights { id gate delay } first { id gate delay } }"
    }
    let bench = Bench()
    func sent(_ id: String, _ gate: JSONValue) -> JSONValue {
      ["__typename": "Flight", "id": .string(id), "gate": gate, "delay": 5]
    }
    try bench.write(
      Board.operationDocument,
      ["flights": [sent("1", "A"), sent("2", nil)], "first": sent("1", "A")])
    try await bench.store.withinReadWriteTransaction { transaction in
      try transaction.update(Board()) { data in
        data.flights[0].gate = nil
        data.flights[1].gate = "B"
        data.first = nil
      }
    }
    #expect(try await bench.record("Flight:1")?[CacheField("gate")] == .leaf(nil))
    #expect(try await bench.record("Flight:1")?[CacheField("delay")] == .leaf(5))
    #expect(try await bench.record("Flight:2")?[CacheField("gate")] == .leaf("B"))
    #expect(try await bench.record("QUERY_ROOT.first")?[CacheField("first")] == .leaf(nil))
    // Without its delay the query could not be read again.
    let error = await #expect(throws: GraphQLStoreError.self) {
      try await bench.store.withinReadWriteTransaction { transaction in
        try transaction.update(Board()) { $0.flights.append(.init(id: "3")) }
      }
    }
    #expect(error?.code == .missingData && error?.message.contains("flights.2.delay") == true)
    #expect(try await bench.record("Flight:3") == nil)
  }

  @Test func `an append to an empty list is refused with the missing field, or can be repeated`() async throws {
    func bench() throws -> Bench {
      let bench = Bench()
      try bench.write(BoardQuery.operationDocument, ["flights": []])
      return bench
    }
    func append(_ bench: Bench, _ id: String) async throws {
      try await bench.store.withinReadWriteTransaction { transaction in
        try transaction.update(BoardQuery()) { $0.flights.append(.init(id: id, gate: "N", next: [])) }
      }
    }
    // Nothing says which type it has.
    let empty = try bench()
    for _ in 1...2 {
      let error = await #expect(throws: GraphQLStoreError.self) { try await append(empty, "1") }
      #expect(error?.message.contains("flights.0.__typename") == true)
    }
    #expect(try empty.read(BoardQuery.operationDocument) == ["flights": []])
    // Where a sibling says it, appending continues.
    let one = try bench()
    try one.write(
      BoardQuery.operationDocument, ["flights": [["__typename": "Flight", "id": "0", "gate": "A", "next": []]]])
    for id in ["1", "2", "3"] { try await append(one, id) }
    #expect(try one.read(BoardQuery.operationDocument)?["flights"]?.array?.count == 4)
  }

  @Test(arguments: [
    "query Q { page { items { id text } } }",
    "query Q { page { ...P } } fragment P on Page { items { ... on Todo { id text } } }",
  ])
  func `an append to an empty list has the type that the schema says, written with types or without`(
    document: String
  ) async throws {
    let bench = Bench {
      $0.schema = "type Query { page: Page } type Page { items: [Todo!]! } type Todo { id: ID! text: String }"
    }
    try bench.write(document, ["page": ["__typename": "Page", "items": []]])
    for id in ["1", "2"] {
      try await bench.store.withinReadWriteTransaction { transaction in
        try transaction.update(document) { data in
          var page = data["page"]?.object ?? JSONObject()
          page["items"] = .array((page["items"]?.array ?? []) + [["id": .string(id), "text": "t"]])
          data["page"] = .object(page)
        }
      }
    }
    #expect(try bench.read(document)?["page"]?["items"]?.array?.count == 2)
    #expect(try await bench.record("Todo:2")?[CacheField("text")] == .leaf("t"))
  }

  @Test func `an object of a field that could have several types needs its own type`() async throws {
    let document = "query Q { nodes { id } }"
    let bench = Bench {
      $0.schema = "type Query { nodes: [Node!]! } interface Node { id: ID! } type Todo implements Node { id: ID! }"
    }
    try bench.write(document, ["nodes": []])
    let error = await #expect(throws: GraphQLStoreError.self) {
      try await bench.store.withinReadWriteTransaction { transaction in
        try transaction.update(document) { $0["nodes"] = [["id": "1"]] }
      }
    }
    #expect(error?.message.contains("nodes.0.__typename") == true)
  }

  @Test func `an update of one object whose key only the store asked for is an update of it`() async throws {
    struct First: GraphQLQuery {
      struct Data: Codable, Sendable, Hashable {
        struct Flight: Codable, Sendable, Hashable { var gate: String? }
        var first: Flight?
      }
      static let operationName = "First"
      static let operationDocument = "query First { first { gate } }"
    }
    let bench = Bench { $0.schema = "type Query { first: Flight } type Flight { id: ID! gate: String }" }
    try bench.write(First.operationDocument, ["first": flight("1")])
    try await bench.store.withinReadWriteTransaction { try $0.update(First()) { $0.first?.gate = "C" } }
    #expect(try await bench.record("Flight:1")?[CacheField("gate")] == .leaf("C"))
  }
}
