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

  /// The store of a killed process sends a deletion again whose answer its disk does not have, and hides the record
  /// until then: P5 expects that, whatever the handle of the process before said.
  @Test func `P5: a deletion whose answer was lost with the process is pending after its start`() {
    let story = Story(seed: 2_532)
    let outcome = story.play(SchemaCache())
    #expect(outcome.counts["client crash at write of the log"] != nil, "no process is killed at an access to its log")
    #expect(outcome.violations.isEmpty, "\(story.report(outcome))")
  }

  /// A store removes the server's records when its caller is refused twice, has them again when it is accepted, and
  /// removes them once more, for a refusal or because they are deleted: the same version, removed twice.
  @Test func `P3: a record that came back with its caller's access is removed again`() {
    let outcome = Story(seed: 372).play(SchemaCache())
    #expect(outcome.counts["token refused"] != nil, "no caller is refused")
    #expect(outcome.violations.isEmpty, "\(outcome.violations)")
  }

  @Test func `a broken seed is reported with faults that do not break it, or without its seed, faults and history`() {
    let stories = (UInt64(1)...50).lazy.map { Story(seed: $0) }
    guard let story = stories.first(where: { $0.faults.count >= 5 }) else {
      Issue.record("no story has five faults")
      return
    }
    let needed = [story.faults[1], story.faults[3]]
    let small = story.shrunk { smaller in needed.allSatisfy { smaller.faults.contains($0) } }
    #expect(small.faults == needed && small.seed == story.seed)
    var outcome = small.play(SchemaCache())
    outcome.violations = [Violation(check: .noGap, text: "a record is missing")]
    let lines = small.report(outcome).split(separator: "\n").map(String.init)
    let head = ["seed \(story.seed)", "  broken: P2 no gap: a record is missing"] + needed.map { "  fault: \($0)" }
    #expect(Array(lines.prefix(4)) == head)
    #expect(lines.count == 4 + outcome.history.count && !outcome.history.isEmpty)
    // The same seed and faults again: the history can be repeated.
    #expect(small.play(SchemaCache()).history == outcome.history)
  }
}
