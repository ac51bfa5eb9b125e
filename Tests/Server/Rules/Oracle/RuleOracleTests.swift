import MartletModels
import MartletServer
import Testing

/// Random schemas, rules, callers, records, operations, changes of ownership and reloads: what each caller ever
/// receives is what a naive evaluator allows, over sockets in every dialect, event streams, multipart responses,
/// requests, batches, and the records in the tree.
@Suite(.timeLimit(.minutes(2))) struct RuleOracleTests {
  @Test(arguments: [UInt64](1...3))
  func `P8, P10: every caller receives exactly what the rules allow, by every door and through reloads`(seed: UInt64)
    async throws
  {
    let faults = try await OracleRun.faults(seed: seed, steps: 80)
    #expect(faults.isEmpty, "seed \(seed): \(faults.first ?? "")")
  }

  @Test(arguments: [UInt64](1...6))
  func `P10: every caller syncs exactly what the rules allow`(seed: UInt64) async throws {
    let faults = try await OracleRun.faults(seed: seed, steps: 100, syncs: true)
    #expect(faults.isEmpty, "seed \(seed): \(faults.first ?? "")")
  }

  @Test(arguments: [UInt64](1...3))
  func `P10: deletions that follow from another record's reach exactly the callers that saw the record`(seed: UInt64)
    async throws
  {
    let faults = try await OracleRun.faults(seed: seed, steps: 80, cascades: true)
    #expect(faults.isEmpty, "seed \(seed): \(faults.first ?? "")")
  }

  /// A seed for each place whose history meets the leak there, so that the test looks no longer than it has to. Where
  /// histories have changed it looks further.
  private static let seeds: [RuleUse: UInt64] = [
    .get: 2, .list: 2, .index: 1, .relation: 40, .related: 1, .create: 1, .update: 1, .delete: 1, .condition: 27,
    .answer: 1, .interest: 1, .payload: 2, .group: 1,
  ]

  /// Each place where rules are applied forgets them once.
  @Test(arguments: RuleUse.allCases)
  func `P10: a leak that is planted in any place is found`(use: RuleUse) async throws {
    let lens: RuleLens = { place, outcome, open in place == use ? open : outcome }
    let pinned = Self.seeds[use] ?? 1
    for seed in pinned...(pinned + 60) {
      if try await !OracleRun.faults(seed: seed, steps: 60, syncs: use == .sync, lens: lens).isEmpty { return }
    }
    Issue.record("a leak in \(use) is not found in 60 seeds")
  }
}
