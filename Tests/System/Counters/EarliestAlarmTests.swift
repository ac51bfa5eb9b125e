import CMartletAllocationCounter
import MartletJSON
import MartletLoop
import MartletModelSchema
import MartletServer
import MartletSockets
import MartletStore
import Testing

/// A durable write to 1,000 members, counted exactly: what it wakes, evaluates, sends and allocates.
@Suite(.serialized, .timeLimit(.minutes(2))) struct EarliestAlarmTests {
  private static let schema = """
    type Flight @model { id: ID! origin: String! gate: String delay: Int status: String note: String }
    """
  private static let query =
    #"subscription { onUpdateFlight(filter: {origin: {eq: \"ORY\"}}) { id origin gate delay status } }"#

  private static func update(_ delay: Int64) -> WriteOperation {
    .update(RecordUpdate(model: 0, key: RecordKey(values: ["f"]), values: [(field: 3, value: .int(delay))]))
  }

  private static func create(on server: CountedServer) async throws {
    let made = try await HTTPRequest.graphql(
      #"mutation { createFlight(input: {id: "f", origin: "ORY", gate: "B22", delay: 0, status: "on time"}) { id } }"#,
      port: server.port)
    #expect(made.json["data"]?["createFlight"]?["id"] == "f")
  }

  /// What `commits` group commits of `burst` writes cost with `members` subscriptions.
  private static func measure(
    members: Int, burst: Int, commits: Int, loops: Int = 1, deflate: Bool = false
  ) async throws -> CountedServer.Counts {
    let server = try CountedServer(schema: schema, loops: loops)
    try await create(on: server)
    let audience = try Audience()
    await audience.join(members, port: server.port, query: query, deflate: deflate)
    // Two rounds first, so that every buffer has its size.
    for round in 0..<2 {
      await audience.expect(members * burst) { await server.commit((0..<burst).map { update(Int64($0 + round)) }) }
    }
    let before = await server.counts()
    for round in 0..<commits {
      await audience.expect(members * burst) { await server.commit((0..<burst).map { update(Int64($0 + round)) }) }
    }
    let counts = await server.counts() - before
    #expect(await audience.heard == members * burst * (commits + 2))
    #expect(audience.strays.isEmpty)
    await audience.leave()
    await server.stop()
    return counts
  }

  @Test(arguments: [(1, 1), (8, 1), (1, 2), (8, 2)])
  func `a commit wakes each loop once, evaluates once a loop, and sends once to each member`(
    burst: Int, loops: Int
  ) async throws {
    let (members, commits) = (1_000, 5)
    let counts = try await Self.measure(members: members, burst: burst, commits: commits, loops: loops)
    #expect(counts[.batches] == commits * loops)
    #expect(counts[.changes] == commits * burst * loops)
    #expect(counts[.payloadEncodings] == commits * burst * loops)
    #expect(counts[.predicateEvaluations] <= commits * burst * loops * 2)
    #expect(counts[.deliveries] == commits * burst * members)
    #expect(counts.loop.sends == commits * members)
    // One piece of work for the writer, one wake for each loop; asking for the counters wakes each loop once more.
    #expect(counts.writerCalls <= 2 * commits)
    #expect(counts.loop.wakes <= commits * loops + loops)
  }

  @Test(.enabled(if: martlet_allocations_are_counted(), "a sanitizer has an allocator of its own"), arguments: [1, 8])
  func `delivering an event to one more member allocates nothing`(burst: Int) async throws {
    let commits = 10
    let few = try await Self.measure(members: 100, burst: burst, commits: commits)
    let many = try await Self.measure(members: 1_000, burst: burst, commits: commits)
    let deliveries = many[.deliveries] - few[.deliveries]
    #expect(deliveries == 900 * burst * commits)
    let perDelivery = Double(many.allocations - few.allocations) / Double(deliveries)
    #expect(perDelivery < 0.001, "\(many.allocations) with 1,000 members, \(few.allocations) with 100")
  }

  @Test func `a compressed event is compressed once for all members`() async throws {
    let counts = try await Self.measure(members: 200, burst: 1, commits: 5, deflate: true)
    #expect(counts[.payloadEncodings] == 5)
    #expect(counts.loop.sends == 5 * 200)
  }

  @Test func `mutations over a socket commit, answer and deliver within the same bound of wakes`() async throws {
    let server = try CountedServer(schema: Self.schema)
    try await Self.create(on: server)
    let audience = try Audience()
    await audience.join(1_000, port: server.port, query: Self.query)
    let writer = try await RawSocket.session(port: server.port)
    for burst in [1, 8] {
      let before = await server.counts()
      let commits = 5
      for round in 0..<commits {
        await audience.expect(1_000 * burst) {
          server.writer.hold()
          writer.send(
            (0..<burst).map { number in
              #"{"id":"\#(burst)-\#(round)-\#(number)","type":"subscribe","payload":{"query":"mutation { "#
                + #"updateFlight(input: {id: \"f\", delay: \#(round * 10 + number)}) { id } }"}}"#
            })
          while await server.counts()[.operations] < before[.operations] + burst * (round + 1) {}
          server.writer.release()
        }
        for _ in 0..<burst { _ = try await writer.message("complete") }
      }
      let counts = await server.counts() - before
      #expect(counts[.batches] == commits)
      #expect(counts[.deliveries] == commits * burst * 1_000)
      #expect(counts[.payloadEncodings] == commits * burst)
      // Members, and the one answer that joins all results of the turn.
      #expect(counts.loop.sends == commits * (1_000 + 1))
      #expect(counts.writerCalls <= 2 * commits)
    }
    await audience.leave()
    writer.abort()
    await server.stop()
  }
}
