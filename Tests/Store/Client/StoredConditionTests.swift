import MartletJSON
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

  /// JSON has no such numbers: a bound of infinity was sent and kept as null.
  @Test func `a condition over an infinite number or NaN means the same when it is kept`() throws {
    let stored = StoredCondition(Models.mixedShape)
    let real = 3
    func record(_ value: JSONValue) -> Record { Record(values: ["id", .null, .null, value, .null, .null]) }
    let numbers: [JSONValue] = [-.greatestFiniteMagnitude, -1.5, 0, 1.5, .greatestFiniteMagnitude].map { .double($0) }
    let records = ([.null] + numbers).map(record)
    for odd in [Double.infinity, -.infinity, .nan].map({ JSONValue.double($0) }) {
      let comparisons: [Comparison] = [
        .eq(odd), .ne(odd), .lt(odd), .le(odd), .gt(odd), .ge(odd), .between(odd, 1), .between(1, odd),
        .between(odd, odd), .in([odd, 0]), .notIn([odd, 0]), .contains(odd), .notContains(odd),
      ]
      for comparison in comparisons {
        for predicate in [Predicate.compare(field: real, comparison), .not(.compare(field: real, comparison))] {
          let text = stored.json(predicate).description
          let kept = try stored.predicate(try JSONValue(parsing: text))
          #expect(records.map { kept.matches($0) } == records.map { predicate.matches($0) }, "\(predicate): \(text)")
        }
      }
    }
  }
}
