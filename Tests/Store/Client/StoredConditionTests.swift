import MartletModels
import MartletSimulation
import MartletStore
import Testing

/// Conditions as they are kept with a write. `OperatorTests` sees that random predicates have every operator.
@Suite struct StoredConditionTests {
  @Test func `a condition that was kept and is read again means the same, whatever its operators`() throws {
    let stored = StoredCondition(Models.mixedShape)
    var random = RandomPredicates(kinds: [.text, .text, .whole, .real, .truth, .textList], seed: 11)
    let records = (0..<40).map { _ in random.record() }
    for _ in 0..<1_000 {
      let predicate = random.predicate(depth: 3)
      let kept = try stored.predicate(stored.json(predicate))
      #expect(records.map { kept.matches($0) } == records.map { predicate.matches($0) }, "\(predicate)")
    }
  }
}
