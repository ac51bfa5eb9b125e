package import MartletSimulation
internal import MartletVocabulary

/// One story: a seed, and the faults that happen in it.
package struct Story: Sendable {
  package var seed: UInt64
  package var faults: [Fault]
  /// How long the applications work, in virtual time.
  package static let length = Duration.seconds(40)

  /// The story of a seed with all its faults.
  package init(seed: UInt64) {
    self.seed = seed
    var random = SeededRandom(seed: seed &* 11 &+ 3)
    clients = 2 + Int(random.next() % 2)
    isOptimistic = random.next() % 3 == 0
    faults = Fault.draw(&random, during: Self.length, clients: clients)
  }

  private let clients: Int
  private let isOptimistic: Bool

  /// What came of a story.
  package struct Outcome: Sendable {
    package var violations: [Violation]
    package var history: [SimulatedHistory.Entry]
    package var counts: [String: Int]
    package var steps: Int
    /// Faults that had an effect.
    package var faults: Int
  }

  /// Plays the story.
  package func play(_ schemas: SchemaCache) -> Outcome {
    var schema = WorldSchema()
    schema.isOptimistic = isOptimistic
    let world = World(seed: seed, clients: clients, schema, schemas)
    let faults = faults
    do {
      try world.executor.run(steps: 3_000_000) {
        try world.server.start()
        world.server.seed(accounts: 4)
        for client in world.clients { client.start() }
        world.spawn { await Self.keepServer(world) }
        for fault in faults { world.spawn { await fault.happen(in: world) } }
        await world.executor.sleep(Self.length)
        let isQuiet = try await world.settle()
        if isQuiet {
          // Snapshots that are held back are shown.
          await world.executor.sleep(.seconds(1))
          await world.checks.compareAll()
        } else {
          world.checks.fail(.convergence, "ten minutes after the last fault: \(world.standing)")
        }
        await world.end()
      }
    } catch {
      world.checks.fail(.failure, "\(error)")
    }
    if world.executor.foreignEnqueues > 0 {
      world.checks.fail(.determinism, "\(world.executor.foreignEnqueues) jobs came from other threads")
    }
    return Outcome(
      violations: world.checks.violations, history: world.executor.history.entries, counts: world.counts,
      steps: world.executor.steps, faults: world.counts["fault"] ?? 0)
  }

  /// Transfers between accounts, and the store's care, for as long as the story lasts.
  private static func keepServer(_ world: World) async {
    var random = SeededRandom(seed: world.seed &* 17 &+ 5)
    while !world.isSettling {
      await world.executor.sleep(.milliseconds(500 + Int64(random.next() % 2_500)))
      if world.isSettling { return }
      world.server.transfer(Int64(random.next() % 50), from: Int(random.next() % 4), to: Int(random.next() % 4))
      if random.next() % 4 == 0 { world.server.maintain() }
    }
  }
}
