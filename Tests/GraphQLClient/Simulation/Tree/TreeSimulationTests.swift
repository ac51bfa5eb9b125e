import Foundation
import MartletDatasync
import MartletJSON
import MartletServer
import MartletSimulation
import Testing

/// The real client of the tree against the real server, wire and server's disk imaginary, all under one seed.
@Suite struct TreeSimulationTests {
  private struct Outcome {
    var entries: [SimulatedHistory.Entry]
    var faults: [String]
    var foreign: Int
    var settled: Bool
    var rejected: Int
    var parts: Int
    var lines: [String]
  }

  /// Three clients write and follow, one of them is ended and started again, and everything that can fail does.
  private static func play(seed: UInt64) throws -> Outcome {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let scenario = TreeScenario(seed: seed, folder: folder)
    let executor = scenario.executor
    let (settled, faults) = try executor.run {
      try scenario.server.start()
      let (one, two) = (scenario.client("one"), scenario.client("two"))
      try scenario.follow("one items", one, "/items", .childEvent)
      try scenario.follow("one clock", one, "/clock", .valueEvent)
      try scenario.follow("two items", two, "/items", .valueEvent)
      try scenario.follow("two last", two, "/items", .childEvent, .last(3))
      try scenario.follow("two counts", two, "/counts", .childEvent)
      try scenario.follow("one pushes", one, "/pushes/two", .childEvent, .last(5))
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await harm(scenario) }
        group.addTask { try await write(scenario, one, "one", ticks: false) }
        group.addTask { try await write(scenario, two, "two", ticks: true) }
        group.addTask { try await restart(scenario) }
        try await group.waitForAll()
      }
      let reader = scenario.client("reader")
      let settled = try await scenario.settle(reader)
      return (settled, try await scenario.faults(reader))
    }
    return Outcome(
      entries: executor.history.entries, faults: faults, foreign: executor.foreignEnqueues, settled: settled,
      rejected: scenario.rejected, parts: 0, lines: scenario.followers.flatMap(\.lines))
  }

  private static func write(
    _ scenario: TreeScenario, _ application: MartletApplication, _ name: String, ticks: Bool
  ) async throws {
    for number in 1...40 {
      await scenario.executor.sleep(.milliseconds(scenario.chance(400)))
      if ticks { try scenario.tick(application, number) }
      switch scenario.chance(4) {
      case 0: try scenario.increment(application, "c\(scenario.chance(3))")
      case 1: try scenario.push(application, name)
      default: try scenario.change(application)
      }
    }
  }

  /// A client with a file: ended while writes wait, and started again.
  private static func restart(_ scenario: TreeScenario) async throws {
    for _ in 1...4 {
      let application = scenario.client("three", keeps: true)
      let follower = try scenario.follow("three items", application, "/items", .childEvent)
      for _ in 1...6 {
        await scenario.executor.sleep(.milliseconds(scenario.chance(500)))
        try scenario.increment(application, "c\(scenario.chance(3))")
        try scenario.push(application, "three")
      }
      // What was asked for has reached the file; the answers have not.
      _ = try await application.datasyncService.queuedWrites()
      follower.ended = "the client ends"
      application.datasyncService.shutDown()
      await scenario.executor.sleep(.milliseconds(100))
    }
    let last = scenario.client("three", keeps: true)
    try scenario.follow("three items", last, "/items", .childEvent)
    try scenario.push(last, "three")
  }

  private static func harm(_ scenario: TreeScenario) async throws {
    let (executor, network, server) = (scenario.executor, scenario.network, scenario.server)
    for _ in 1...8 {
      await executor.sleep(.milliseconds(200 + scenario.chance(1_500)))
      switch scenario.chance(6) {
      case 0: network.cutAll()
      case 1:
        network.conditions.isPartitioned = true
        await executor.sleep(.milliseconds(scenario.chance(20_000)))
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

  @Test(arguments: ServerSimulationTests.seeds)
  func `the tree under cuts, kills and restarts: writes once, events in order, one acknowledgement, equal ends`(
    seed: UInt64
  ) throws {
    let first = try Self.play(seed: seed)
    #expect(first.settled, "seed \(seed) did not settle")
    #expect(first.faults == [], "seed \(seed)")
    #expect(first.foreign == 0, "seed \(seed)")
    #expect(first.lines.count > 100, "seed \(seed)")
    let second = try Self.play(seed: seed)
    let same = zip(first.entries, second.entries).prefix { $0 == $1 }.count
    #expect(
      same == first.entries.count && same == second.entries.count,
      "seed \(seed) differs from itself after \(first.entries.prefix(same).suffix(5)): \(second.entries.dropFirst(same).prefix(2))"
    )
  }

  @Test func `the seeds together refuse, acknowledge, remove and restart`() throws {
    var rejected = 0
    var texts: [String] = []
    for seed in 1...6 as ClosedRange<UInt64> {
      let outcome = try Self.play(seed: seed)
      rejected += outcome.rejected
      texts += outcome.lines + outcome.entries.map(\.text)
    }
    func count(_ word: String) -> Int { texts.filter { $0.contains(word) }.count }
    #expect(rejected > 5, "\(rejected)")
    #expect(
      count("server killed") > 1 && count("cut ") > 5 && count("acknowledgement: true") > 50
        && count("removal: true") > 10)
  }

  /// A hundredth of a large node: 1.2 MB in 10,000 leaves, in parts of 2 kB.
  @Test func `a client that takes nothing has little of a large value waiting, and gets all of it when it does`() throws
  {
    let scenario = TreeScenario(seed: 1, folder: "") { limits in
      limits.partBytes = 2_048
      limits.pendingBytes = 8_192
      limits.writeBytes = 4_000_000
    }
    let (executor, network) = (scenario.executor, scenario.network)
    network.conditions.chunkBytes = 4_096
    network.conditions.windowBytes = 16_384
    let (most, value) = try executor.run {
      try scenario.server.start()
      let (writer, reader) = (scenario.client("writer"), scenario.client("reader"))
      var object = JSONObject()
      for number in 0..<10_000 { object["k\(100_000 + number)"] = .string(String(repeating: "x", count: 100)) }
      try await scenario.node(writer, "/items").set(JSONValue.object(object)).acknowledged()
      let node = try scenario.node(reader, "/items")
      _ = try await scenario.node(reader, "/clock").value()
      network.conditions.isPartitioned = true
      var events = try node.events(.valueChange).makeAsyncIterator()
      // The listen arrives, and nothing of the answer does.
      network.conditions.isPartitioned = false
      var most = 0
      for _ in 0..<200 {
        await executor.sleep(.microseconds(100))
        most = max(most, network.links.map { $0.server.pendingBytes }.max() ?? 0)
        if most > 0 { network.conditions.isPartitioned = true }
      }
      await executor.sleep(.seconds(3))
      most = max(most, network.links.map { $0.server.pendingBytes }.max() ?? 0)
      network.conditions.isPartitioned = false
      return (most, try await events.next()?.value.asDictionary()?.count)
    }
    #expect(value == 10_000)
    #expect((1..<65_536).contains(most), "\(most) bytes waited")
  }
}
