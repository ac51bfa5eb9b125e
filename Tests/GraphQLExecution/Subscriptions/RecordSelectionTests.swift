import MartletGraphQLExecution
import MartletGraphQLLanguage
import MartletJSON
import Testing

struct RecordSelectionTests {
  private static let text = """
    type Query { a: Int }
    type Subscription { onUpdateFlight(gate: String): Flight }
    type Flight {
      id: ID! gate: String delay: Int price: Float late: Boolean! status: Status at: Stamp tags: [String!] matrix: [[Int]]
      place: Place origin: Airport mine: Int
    }
    type Place { x: Float! y: Float name: String inner: Place }
    type Airport { code: String! }
    enum Status { OPEN CLOSED }
    scalar Stamp
    """

  private func schema() throws -> ExecutableSchema {
    var resolvers = Resolvers()
    let names = ["id", "gate", "delay", "price", "late", "status", "at", "tags", "matrix", "place"]
    resolvers.slots["Flight"] = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
    resolvers.use(
      .callback { request, completion in completion(request.sources.map { _ in .success(.value(nil)) }) },
      "Flight", "origin")
    resolvers.compute("Flight", "mine") { _ in 1 }
    return try ExecutableSchema(try Schema.build(Self.text), resolvers: resolvers)
  }

  private func plan(_ selection: String) throws -> OperationPlan {
    try schema().prepare(Array("subscription { x: onUpdateFlight { \(selection) } }".utf8), operationName: nil)
  }

  private static let slots: [JSONValue] = [
    "f1", "B\"2", 12, 1.5, true, "OPEN", "2026-01-01T00:00Z", ["a", "b"], [[1, nil], nil],
    ["x": 1.25, "y": nil, "inner": ["x": 2.5, "name": "in"]],
  ]

  @Test func `the bytes written from slots are those of executing the plan`() throws {
    let plan = try plan(
      "id gate late __typename status delay price at tags matrix place { x y inner { name n2: name __typename } }")
    let selection = try #require(RecordSelection(plan, variables: [:]))
    var writer = JSONWriter()
    #expect(selection.write(Self.slots, to: &writer))
    let record = ResolvedValue.record(RecordValue(typeName: "Flight", slots: Self.slots))
    let executed = try #require(plan.executeSynchronously(variables: [:], root: record))
    #expect(String(decoding: writer.bytes, as: UTF8.self) == String(decoding: executed.bytes, as: UTF8.self))
    #expect(executed.errors.isEmpty)
  }

  @Test func `conditions are decided before`() throws {
    let plan = try schema().prepare(
      Array("subscription S($g: Boolean!) { onUpdateFlight { id gate @include(if: $g) } }".utf8), operationName: nil)
    for (flag, expected) in [(true, ["id", "gate"]), (false, ["id"])] {
      let selection = try #require(RecordSelection(plan, variables: ["g": .bool(flag)]))
      var writer = JSONWriter()
      #expect(selection.write(Self.slots, to: &writer))
      #expect(try JSONValue(parsing: writer.bytes)["data"]?["onUpdateFlight"]?.object?.keys == expected)
    }
  }

  @Test(arguments: ["id origin { code }", "mine", "id place { x } origin { __typename }"])
  func `a selection that needs a relation or a resolver is not answered by the record`(_ selection: String) throws {
    #expect(try RecordSelection(plan(selection), variables: [:]) == nil)
  }

  private static let wrong: [(Int, JSONValue)] = [
    (0, nil), (2, "late"), (4, nil), (5, "GONE"), (7, [1]), (7, [nil]), (9, ["y": 1]),
  ]

  @Test(arguments: wrong)
  func `a value that its field does not allow is left to the executor`(_ slot: Int, _ value: JSONValue) throws {
    let plan = try plan("id delay late status tags place { x }")
    let selection = try #require(RecordSelection(plan, variables: [:]))
    var slots = Self.slots
    slots[slot] = value
    var writer = JSONWriter()
    #expect(!selection.write(slots, to: &writer))
    let record = ResolvedValue.record(RecordValue(typeName: "Flight", slots: slots))
    let executed = try #require(plan.executeSynchronously(variables: [:], root: record))
    #expect(executed.errors.count == (slot == 7 && value == [1] ? 0 : 1))
  }

  @Test func `a buffer with room is written to without being replaced`() throws {
    let selection = try #require(RecordSelection(try plan("id gate delay"), variables: [:]))
    var bytes: [UInt8] = []
    bytes.reserveCapacity(4_096)
    var writer = JSONWriter(reusing: bytes)
    let before = writer.bytes.capacity
    for _ in 0..<20 { #expect(selection.write(Self.slots, to: &writer)) }
    #expect(writer.bytes.capacity == before)
  }
}
