import MartletStoreSimulation
import Testing

/// The whole DataStore and its server under one seed: kills, lost power, lost messages, changed rules. `make sim` plays
/// more seeds.
@Suite struct StoreSimulationTests {
  @Test(arguments: [1, 2] as [UInt64])
  func `P1 to P7, P11 to P18: stores keep their promises under faults, and a seed repeats itself`(seed: UInt64) {
    let run = SeedRun(seed: seed, SchemaCache())
    #expect(run.counts, "seed \(seed) has no fault")
    #expect(run.outcome.violations.isEmpty, "\(run.story.report(run.outcome))")
  }
}
