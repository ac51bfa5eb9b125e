import MartletCore
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
}
