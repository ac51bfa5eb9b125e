import CMartletAllocationCounter
import MartletJSON
import MartletLoop
import MartletModelSDL
import MartletModels
import MartletRuntime
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
    members: Int, burst: Int, commits: Int, loops: Int = 1, deflate: Bool = false, sendsPerTurn: Int = 256
  ) async throws -> CountedServer.Counts {
    let server = try CountedServer(schema: schema, loops: loops) { $0.limits.session.sendsPerTurn = sendsPerTurn }
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

  /// The fewest allocations of the server's loop that one commit of `burst` writes to `members` subscriptions takes.
  ///
  /// The fewest of several commits: a commit during which the machine was busy takes more turns of the loop, and a
  /// timer may fall into it. What each delivery allocates is in all of them.
  private static func fewestAllocations(members: Int, burst: Int) async throws -> Int {
    // In one slice: a further one allocates its turn's work, once for 256 sends.
    let server = try CountedServer(schema: schema) { $0.limits.session.sendsPerTurn = 1_000 }
    try await create(on: server)
    let audience = try Audience()
    await audience.join(members, port: server.port, query: query)
    var fewest = Int.max
    for round in 0..<20 {
      let before = await server.counts()
      await audience.expect(members * burst) { await server.commit((0..<burst).map { update(Int64($0 + round)) }) }
      let counts = await server.counts() - before
      #expect(counts[.deliveries] == members * burst)
      // Two rounds first, so that every buffer has its size.
      if round >= 2 { fewest = min(fewest, counts.allocations) }
    }
    await audience.leave()
    await server.stop()
    return fewest
  }

  @Test(.enabled(if: martlet_allocations_are_counted(), "a sanitizer has an allocator of its own"), arguments: [1, 8])
  func `delivering an event to one more member allocates nothing`(burst: Int) async throws {
    let few = try await Self.fewestAllocations(members: 100, burst: burst)
    let many = try await Self.fewestAllocations(members: 1_000, burst: burst)
    // 900 more members; the loop may take a few turns more for their sends.
    #expect(many - few < 30, "\(many) with 1,000 members, \(few) with 100")
  }

  @Test func `a compressed event is compressed once for all members`() async throws {
    let counts = try await Self.measure(members: 200, burst: 1, commits: 5, deflate: true)
    #expect(counts[.payloadEncodings] == 5)
    #expect(counts.loop.sends == 5 * 200)
  }

  @Test(arguments: [1, 2])
  func `a selection that needs reads is evaluated once a node, in order, however many loops have members`(
    loops: Int
  ) async throws {
    let schema = """
      type Airport @model { id: ID! name: String flights: [Flight] @hasMany }
      type Flight @model { id: ID! gate: String delay: Int airport: Airport @belongsTo }
      """
    let server = try CountedServer(schema: schema, loops: loops)
    for mutation in [
      #"createAirport(input: {id: "ORY", name: "Orly"})"#, #"createFlight(input: {id: "f", airportFlightsId: "ORY"})"#,
    ] {
      let made = try await HTTPRequest.graphql("mutation { \(mutation) { id } }", port: server.port)
      #expect(made.json["errors"] == nil, "\(made.json)")
    }
    let audience = try Audience()
    let (members, burst, commits) = (40, 4, 5)
    await audience.join(
      members, port: server.port, query: "subscription { onUpdateFlight { id delay airport { name } } }")
    let model = try #require(server.node.models.models.first { $0.name == "Flight" })
    let delay = try #require(model.fields.firstIndex { $0.name == "delay" })
    let before = await server.counts()
    for round in 0..<commits {
      await audience.expect(members * burst) {
        await server.commit(
          (0..<burst).map { number in
            .update(
              RecordUpdate(
                model: model.number, key: RecordKey(values: ["f"]),
                values: [(field: delay, value: .int(Int64(round * 10 + number)))]))
          })
      }
    }
    let counts = await server.counts() - before
    #expect(counts[.payloadEncodings] == commits * burst)
    #expect(counts[.deliveries] == commits * burst * members)
    #expect(audience.strays.isEmpty)
    await audience.leave()
    await server.stop()
  }

  @Test func `a fan-out is divided over turns by its sends, and sends no more for it`() async throws {
    let server = try CountedServer(schema: Self.schema) { $0.limits.session.sendsPerTurn = 50 }
    try await Self.create(on: server)
    let audience = try Audience()
    let (members, commits) = (1_000, 5)
    await audience.join(members, port: server.port, query: Self.query)
    let before = await server.counts()
    for round in 0..<commits {
      await audience.expect(members) { await server.commit([Self.update(Int64(round))]) }
    }
    let counts = await server.counts() - before
    #expect(counts[.deliveries] == commits * members)
    #expect(counts.loop.sends == commits * members)
    #expect(counts.loop.turns >= commits * members / 50)
    let largest = await withCheckedContinuation { done in
      server.hubs[0].loop.execute { done.resume(returning: server.hubs[0].value.feed.largestTurn) }
    }
    #expect(largest == 50)
    await audience.leave()
    await server.stop()
  }

  @Test func `mutations in flight on one socket become one group, and each member gets them with one send`()
    async throws
  {
    let server = try CountedServer(schema: Self.schema)
    try await Self.create(on: server)
    let audience = try Audience()
    let (members, rounds) = (1_000, 5)
    await audience.join(members, port: server.port, query: Self.query)
    let writer = try await RawSocket.session(port: server.port)
    let before = await server.counts()
    for round in 0..<rounds {
      await audience.expect(members * 4) {
        writer.send(
          (0..<4).map { number in
            #"{"id":"\#(round)-\#(number)","type":"subscribe","payload":{"query":"mutation { "#
              + #"updateFlight(input: {id: \"f\", delay: \#(round * 10 + number)}) { id } }"}}"#
          })
      }
      for _ in 0..<4 { _ = try await writer.message("complete") }
    }
    let counts = await server.counts() - before
    #expect(counts[.changes] == 4 * rounds && counts[.deliveries] == 4 * rounds * members)
    #expect(counts[.batches] == rounds)
    #expect(counts.loop.sends <= rounds * members * 13 / 10)
    await audience.leave()
    writer.abort()
    await server.stop()
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
