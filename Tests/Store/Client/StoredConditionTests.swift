import MartletJSON
import MartletModels
import MartletSimulation
import MartletStore
import Testing

/// Conditions as they are kept with a write. `OperatorTests` sees that random predicates have every operator.
@Suite struct StoredConditionTests {
  @Test(arguments: [RandomPredicates.Kind.text, .moment])
  func `a condition that was kept and is read again means the same, whatever its operators`(
    kind: RandomPredicates.Kind
  ) throws {
    var shape = Models.mixedShape
    shape.columns[1].isMoment = kind == .moment
    let stored = StoredCondition(shape)
    var random = RandomPredicates(kinds: [.text, kind, .whole, .real, .truth, .textList], seed: 11)
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

  /// A server's inputs have types: an operand of another one is refused there, and null asks for nothing.
  @Test func `a comparison with another kind of value means the same when it is kept, in operands that an input takes`()
    throws
  {
    let shape = Models.mixedShape
    let stored = StoredCondition(shape)
    var random = RandomPredicates(kinds: [.text, .text, .whole, .real, .truth, .textList], seed: 12)
    let records = (0..<200).map { _ in random.record() }
    let operands: [JSONValue] = [.null, .bool(true), .int(1), .double(0.5), .double(-1.5), .double(1e300), "a", ["a"]]
    for (field, column) in shape.columns.enumerated() where column.storage != .json {
      for value in operands {
        var comparisons: [Comparison] = [
          .eq(value), .ne(value), .lt(value), .le(value), .gt(value), .ge(value), .contains(value), .notContains(value),
          .in([value, "b"]), .notIn([value, .int(2)]), .beginsWith(TextPrefix("a")),
        ]
        comparisons += operands.map { .between(value, $0) }
        for comparison in comparisons {
          for predicate in [Predicate.compare(field: field, comparison), .not(.compare(field: field, comparison))] {
            let json = stored.json(predicate)
            let kept = try stored.predicate(json)
            #expect(records.map { kept.matches($0) } == records.map { predicate.matches($0) }, "\(predicate): \(json)")
            #expect(Self.operands(json).allSatisfy { Self.takes(column.storage, $0) }, "\(predicate): \(json)")
          }
        }
      }
    }
  }

  /// The operands of a condition's comparisons, apart from those about a value's presence.
  private static func operands(_ json: JSONValue) -> [JSONValue] {
    (json.object ?? JSONObject()).flatMap { name, value -> [JSONValue] in
      switch name {
      case "and", "or": value.array?.flatMap(operands) ?? []
      case "not": operands(value)
      default: value.object?.flatMap { $0.key == "attributeExists" ? [] : $0.value.array ?? [$0.value] } ?? []
      }
    }
  }

  private static func takes(_ storage: ColumnStorage, _ value: JSONValue) -> Bool {
    switch (storage, value) {
    case (.text, .string), (.boolean, .bool), (.integer, .int), (.real, .int), (.real, .double): true
    case (.integer, .double(let number)): number == number.rounded()
    case (_, _): false
    }
  }
}
