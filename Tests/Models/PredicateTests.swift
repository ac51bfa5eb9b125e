import MartletJSON
import MartletModels
import MartletSimulation
import Testing

@Suite struct PredicateTests {
  @Test func `memory and the naive evaluator agree on random conditions`() {
    var generator = RandomPredicates(seed: 1)
    var matched = 0
    for _ in 0..<1_500 {
      let predicate = generator.predicate(depth: 3)
      for _ in 0..<6 {
        let record = generator.record()
        let answer = predicate.matches(record)
        #expect(answer == NaiveEvaluator.matches(predicate, record), "\(predicate) on \(record)")
        matched += answer ? 1 : 0
      }
    }
    #expect(matched > 1_000 && matched < 8_000)
  }

  @Test func `a record fulfils a predicate exactly when it fulfils one of its branches`() {
    var generator = RandomPredicates(seed: 2)
    for round in 0..<1_500 {
      let predicate = generator.predicate(depth: 4)
      let branches = predicate.equalityBranches(limit: round % 2 == 0 ? 256 : 3)
      for branch in branches { #expect(branch.fields == branch.fields.sorted()) }
      for _ in 0..<6 {
        let record = generator.record()
        let fulfilled = branches.contains { branch in
          zip(branch.fields, branch.values).allSatisfy { ValueOrder.key(record[$0]) == $1 }
            && branch.residue.matches(record)
        }
        #expect(fulfilled == predicate.matches(record), "\(predicate) on \(record)")
      }
    }
  }

  @Test func `equality, in, or and negation become branches`() {
    let origin = Predicate.compare(field: 0, .eq("JFK"))
    let late = Predicate.compare(field: 2, .gt(30))
    #expect(
      Predicate.and([late, origin]).equalityBranches(limit: 9) == [
        EqualityBranch(fields: [0], values: ["JFK"], residue: late)
      ])
    #expect(
      Predicate.compare(field: 0, .in(["a", "b", "a"])).equalityBranches(limit: 9).map(\.values) == [["a"], ["b"]])
    #expect(Predicate.not(.compare(field: 1, .ne(3))).equalityBranches(limit: 9).map(\.values) == [[3]])
    #expect(Predicate.and([origin, .compare(field: 0, .eq("LGA"))]).equalityBranches(limit: 9).isEmpty)
    #expect(late.equalityBranches(limit: 9).map(\.mustBeScanned) == [true])
    #expect(Predicate.compare(field: 1, .eq(1.0)).equalityBranches(limit: 9).map(\.values) == [[1]])
    #expect(Predicate.or([origin, late]).equalityBranches(limit: 9).map(\.mustBeScanned) == [false, true])
  }

  @Test func `null equals null alone and has no order`() {
    let record = Record(values: [.null])
    func holds(_ comparison: Comparison) -> Bool { Predicate.compare(field: 0, comparison).matches(record) }
    #expect(holds(.eq(.null)) && !holds(.eq("")) && holds(.ne("")) && !holds(.ne(.null)))
    #expect(!holds(.lt(1)) && !holds(.ge(1)) && !holds(.between(.null, .null)))
    #expect(!holds(.in([])) && holds(.notIn([])) && holds(.in([.null])))
    #expect(holds(.attributeExists(false)) && !holds(.attributeExists(true)) && !holds(.size(.ge(0))))
  }

  @Test func `numbers compare exactly and text by bytes`() {
    #expect(ValueOrder.compare(.int(1 << 53 + 1), .double(0x1p53)) != 0)
    #expect(ValueOrder.compare(.int((1 << 53) + 1), .double(0x1p53)) == 1)
    #expect(ValueOrder.areEqual(.double(-0.0), .int(0)))
    #expect(ValueOrder.compare(.int(.max), .double(0x1p63)) == -1)
    #expect(!ValueOrder.areEqual("\u{E9}", "e\u{301}"))
    #expect(Comparison.beginsWith("\u{E9}") != .beginsWith("e\u{301}"))
    #expect(ValueOrder.compare("\u{FFFF}", "\u{1F600}") == -1)
  }
}
