import MartletModels
import MartletServer
import Testing

/// Random schemas, rules, callers, records, operations and reloads: what each caller ever receives is what a naive
/// evaluator allows.
@Suite(.timeLimit(.minutes(2))) struct RuleOracleTests {
  @Test(arguments: [UInt64](1...6))
  func `P8, P10: every caller receives exactly what the rules allow, by every door and through reloads`(seed: UInt64)
    async throws
  {
    let faults = try await OracleRun.faults(seed: seed, steps: 100)
    #expect(faults.isEmpty, "seed \(seed): \(faults.first ?? "")")
  }

  /// Each place where rules are applied forgets them once.
  @Test(arguments: RuleUse.allCases)
  func `P10: a leak that is planted in any place is found`(use: RuleUse) async throws {
    let lens: RuleLens = { place, outcome, open in place == use ? open : outcome }
    for seed in 1...60 as ClosedRange<UInt64> {
      if try await !OracleRun.faults(seed: seed, steps: 60, lens: lens).isEmpty { return }
    }
    Issue.record("a leak in \(use) is not found in 60 seeds")
  }
}
