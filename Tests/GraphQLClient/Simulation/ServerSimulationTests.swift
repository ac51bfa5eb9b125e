import Foundation
import Martlet
import MartletGraphQLClient
import MartletServer
import MartletSimulation
import MartletVocabulary
import Testing

/// The real client against the real server, wire and disk imaginary, all under one seed.
@Suite struct ServerSimulationTests {
  /// Seeds 1 to `MARTLET_SIM_SEEDS`, 8 without it, so that a run of all tests stays short.
  static let seeds: [UInt64] = {
    let wish = ProcessInfo.processInfo.environment["MARTLET_SIM_SEEDS"].flatMap(UInt64.init) ?? 8
    return Array(1...max(1, wish))
  }()

  private struct Outcome {
    var entries: [SimulatedHistory.Entry]
    var faults: [String]
    var foreign: Int
    var settled: Bool
    var events: Int
    var gaps: Int
    var kills: Int
    var cuts: Int
  }

  /// Three clients follow, one writes, and everything that can fail does.
  private static func play(seed: UInt64, retention: Duration? = nil) throws -> Outcome {
    let scenario = Scenario(seed: seed) { if let retention { $0.limits.store.retention = retention } }
    let (executor, server) = (scenario.executor, scenario.server)
    let settled = try executor.run {
      try server.start()
      let clients = try (1...3).map { try scenario.client("client \($0)") }
      scenario.follow(.creates(0), clients[0])
      scenario.follow(.everyCreate, clients[0])
      scenario.follow(.updates(above: 50), clients[1])
      scenario.follow(.everyDelete, clients[1])
      scenario.follow(.everyCreate, clients[2], slow: true)
      scenario.follow(.creates(1), clients[2])
      let writer = try scenario.client("writer")
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await faults(scenario, retention) }
        group.addTask { await write(scenario, writer) }
        try await group.waitForAll()
      }
      return try await scenario.settle()
    }
    let texts = executor.history.entries.map(\.text)
    return Outcome(
      entries: executor.history.entries, faults: Promises.broken(by: scenario, allowsGaps: retention != nil),
      foreign: executor.foreignEnqueues, settled: settled,
      events: scenario.followers.reduce(0) { $0 + $1.offsets.count },
      gaps: scenario.followers.reduce(0) { $0 + $1.gaps.count },
      kills: texts.filter { $0.hasPrefix("server killed") }.count, cuts: texts.filter { $0.hasPrefix("cut") }.count)
  }

  private static func write(_ scenario: Scenario, _ client: GraphQLClient) async {
    for number in 1...40 {
      await scenario.executor.sleep(.milliseconds(scenario.chance(400)))
      let id = "i\(number)"
      _ = await scenario.create(client, id, group: scenario.chance(3), value: scenario.chance(100))
      let other = "i\(1 + scenario.chance(number))"
      switch scenario.chance(3) {
      case 0:
        let value = scenario.chance(100)
        _ = await scenario.mutate(
          client, "mutation { updateItem(input: { id: \"\(other)\", value: \(value) }) { id } }")
      case 1: _ = await scenario.mutate(client, "mutation { deleteItem(input: { id: \"\(other)\" }) { id } }")
      default: break
      }
    }
  }

  private static func faults(_ scenario: Scenario, _ retention: Duration?) async throws {
    let (executor, network, server) = (scenario.executor, scenario.network, scenario.server)
    for _ in 1...8 {
      await executor.sleep(.milliseconds(200 + scenario.chance(1_500)))
      switch scenario.chance(6) {
      case 0:
        network.cutAll()
      case 1:
        executor.record("partition")
        network.conditions.isPartitioned = true
        await executor.sleep(.milliseconds(scenario.chance(40_000)))
        network.conditions.isPartitioned = false
      case 2:
        server.kill()
        await executor.sleep(.milliseconds(scenario.chance(3_000)))
        try server.start()
      case 3:
        await server.stop()
        await executor.sleep(.milliseconds(scenario.chance(1_000)))
        try server.start()
      case 4:
        network.conditions.delay = .milliseconds(scenario.chance(20)) ... .milliseconds(20 + scenario.chance(200))
        await executor.sleep(.seconds(1))
        network.conditions.delay = .microseconds(50) ... .milliseconds(2)
      default:
        network.conditions.cutsPerMillion = 5_000
        await executor.sleep(.seconds(2))
        network.conditions.cutsPerMillion = 0
      }
    }
  }

  @Test(arguments: seeds)
  func `P1 to P5, P18: hold under cuts, delays, partitions and restarts, and a seed repeats itself`(seed: UInt64) throws
  {
    let first = try Self.play(seed: seed)
    #expect(first.settled, "seed \(seed) did not settle")
    #expect(first.faults == [], "seed \(seed)")
    #expect(first.foreign == 0, "seed \(seed)")
    #expect(first.events > 0, "seed \(seed)")
    let second = try Self.play(seed: seed)
    let same = zip(first.entries, second.entries).prefix { $0 == $1 }.count
    #expect(
      same == first.entries.count,
      "seed \(seed) differs from itself after \(first.entries.prefix(same).suffix(5)): \(second.entries.dropFirst(same).prefix(2))"
    )
    #expect(first.entries.count == second.entries.count, "seed \(seed)")
  }

  @Test func `the seeds together meet every kind of fault, and hundreds of events`() throws {
    var sum = (events: 0, kills: 0, cuts: 0)
    for seed in 1...8 as ClosedRange<UInt64> {
      let outcome = try Self.play(seed: seed)
      sum = (sum.events + outcome.events, sum.kills + outcome.kills, sum.cuts + outcome.cuts)
    }
    #expect(sum.events > 500 && sum.kills > 3 && sum.cuts > 10, "\(sum)")
  }

  @Test func `P4: what fell out of retention is one gap in its place, with both ends, and nothing else is missing`()
    throws
  {
    var gaps = 0
    for seed in Self.seeds {
      let outcome = try Self.play(seed: seed, retention: .milliseconds(300))
      #expect(outcome.settled && outcome.faults == [] && outcome.foreign == 0, "seed \(seed): \(outcome.faults)")
      gaps += outcome.gaps
    }
    #expect(gaps > 0)
  }

  @Test func `P19: a restored older copy gives each subscription one gap that says so`() throws {
    let scenario = Scenario(seed: 7)
    let (executor, server) = (scenario.executor, scenario.server)
    try executor.run {
      try server.start()
      let client = try scenario.client("client")
      scenario.follow(.everyCreate, client)
      scenario.follow(.creates(1), client)
      for number in 1...3 { _ = await scenario.create(client, "a\(number)", group: 1, value: number) }
      let (backup, offset) = (server.backup, server.head)
      for number in 4...6 { _ = await scenario.create(client, "a\(number)", group: 1, value: number) }
      await executor.sleep(.seconds(1))
      server.restore(backup, upTo: offset)
      try server.start()
      await executor.sleep(.seconds(5))
      for number in 7...8 { _ = await scenario.create(client, "a\(number)", group: 1, value: number) }
      await executor.sleep(.seconds(5))
    }
    for follower in scenario.followers {
      #expect(follower.gaps.map(\.reason) == [.lineage], "\(follower.seen)")
      let ids = follower.seen.map { if case .event(offset: _, let id) = $0 { id } else { "gap" } }
      #expect(ids == ["a1", "a2", "a3", "a4", "a5", "a6", "gap", "a7", "a8"])
    }
  }

  /// Bytes from one cut to the next: every byte with `make sim`, and every fourth in a usual run, which takes seconds.
  private static let step = ProcessInfo.processInfo.environment["MARTLET_SIM_SEEDS"] == nil ? 4 : 1

  /// Cuts the first session, handshake included, after so many bytes; returns what does not hold, and how many bytes
  /// the session had left.
  private static func play(cutAfter bytes: Int) throws -> (faults: [String], left: Int?) {
    let scenario = Scenario(seed: UInt64(bytes))
    let (executor, server, network) = (scenario.executor, scenario.server, scenario.network)
    network.conditions.chunkBytes = 4_096
    let (settled, left) = try executor.run {
      try server.start()
      let client = try scenario.client("client")
      let writer = try scenario.client("writer")
      scenario.follow(.everyCreate, client)
      while network.links.isEmpty { await executor.sleep(.microseconds(10)) }
      let link = network.links.first
      link?.bytesUntilCut = bytes
      for number in 1...2 {
        await executor.sleep(.milliseconds(20))
        _ = await scenario.create(writer, "a\(number)", group: 1, value: number)
      }
      return (try await scenario.settle(), link?.bytesUntilCut)
    }
    var faults = Promises.broken(by: scenario)
    if !settled { faults.append("not settled") }
    if executor.foreignEnqueues != 0 { faults.append("work outside the simulation") }
    return (faults, left)
  }

  @Test func `P2, P3: a session cut after any of its bytes continues without loss or repetition`() throws {
    var bytes = 0
    // Until a session ends by itself before its cut.
    while true {
      bytes += Self.step
      let (faults, left) = try Self.play(cutAfter: bytes)
      #expect(faults == [], "cut after \(bytes) bytes")
      if left != 0 { break }
    }
    #expect((500..<5_000).contains(bytes), "\(bytes) bytes")
  }

  @Test func `P1, P2, P3: the checker sees a missing, a repeated, a swapped and a foreign event`() throws {
    let scenario = Scenario(seed: 3)
    let executor = scenario.executor
    let settled = try executor.run {
      try scenario.server.start()
      let client = try scenario.client("client")
      let follower = scenario.follow(.everyCreate, client)
      while follower.readyAt == nil { await executor.sleep(.milliseconds(1)) }
      for number in 1...5 { _ = await scenario.create(client, "a\(number)", group: 1, value: number) }
      return try await scenario.settle()
    }
    #expect(settled && Promises.broken(by: scenario) == [])
    let follower = try #require(scenario.followers.first)
    let good = follower.seen
    #expect(good.count == 5)
    let broken: [(inout [Follower.Seen]) -> Void] = [
      { $0.remove(at: 2) }, { $0.removeFirst() }, { $0.removeLast() }, { $0.insert($0[1], at: 2) },
      { $0.swapAt(1, 2) }, { $0[1] = .event(offset: 2, id: "x") },
      { $0.insert(.gap(EventGap(.retention)), at: 2) },
    ]
    for spoil in broken {
      var seen = good
      spoil(&seen)
      follower.seen = seen
      #expect(Promises.broken(by: scenario) != [], "\(seen)")
    }
  }
}
