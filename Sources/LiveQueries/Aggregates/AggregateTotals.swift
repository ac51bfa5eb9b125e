package import MartletJSON
package import MartletModels

/// What is computed over the records that a condition selects.
package enum AggregateFunction: Sendable, Hashable {
  /// How many records there are.
  case count
  /// The sum of a field's numbers; records without a value do not count.
  case sum(field: Int)
  /// The mean of a field's numbers; null when no record has one.
  case average(field: Int)
  /// The least value of a field; null when no record has one.
  case minimum(field: Int)
  /// The greatest value of a field; null when no record has one.
  case maximum(field: Int)
}

/// Functions over the records that a condition selects.
package struct AggregateQuery: Sendable, Hashable {
  package var model: Int
  package var predicate: Predicate
  package var functions: [AggregateFunction]
  /// The model's primary key, for the order of records with equal values.
  package var primaryKey: [Int]
  /// The fields that are stored as JSON, for the order of their values.
  package var jsonFields: Set<Int>
  /// The fields that hold dates or times, for the same.
  package var momentFields: Set<Int>
  /// What the condition needs of related records.
  package var related: RelatedTerms

  package init(
    model: Int, predicate: Predicate = .all, functions: [AggregateFunction], primaryKey: [Int],
    jsonFields: Set<Int> = [], momentFields: Set<Int> = [], related: RelatedTerms = RelatedTerms()
  ) {
    self.model = model
    self.predicate = predicate
    self.functions = functions
    self.primaryKey = primaryKey
    self.jsonFields = jsonFields
    self.momentFields = momentFields
    self.related = related
  }
}

/// Count, sums and means, to which records are added and from which they are taken.
package struct AggregateTotals: Sendable, Hashable {
  fileprivate struct Total: Sendable, Hashable {
    var sum = ExactSum()
    /// Records with a number, and those of them with a fraction.
    var count = 0
    var reals = 0
  }

  package private(set) var count = 0
  fileprivate var totals: [Int: Total] = [:]

  /// Totals over no records.
  package init(_ functions: [AggregateFunction]) {
    for function in functions {
      switch function {
      case .sum(let field), .average(let field): totals[field] = Total()
      case .count, .minimum, .maximum: break
      }
    }
  }

  /// Counts a record.
  package mutating func add(_ record: Record) {
    count += 1
    for field in totals.keys { totals[field]?.take(record[field], by: 1) }
  }

  /// Takes out a record that was counted with these values.
  package mutating func remove(_ record: Record) {
    count -= 1
    for field in totals.keys { totals[field]?.take(record[field], by: -1) }
  }

  /// The sum of a field: a whole number where all values are.
  package func sum(_ field: Int) -> JSONValue {
    guard let total = totals[field] else { return .null }
    if total.reals == 0, let whole = total.sum.whole { return .int(whole) }
    return .double(total.sum.value)
  }

  /// The mean of a field; null without values.
  package func average(_ field: Int) -> JSONValue {
    guard let total = totals[field], total.count > 0 else { return .null }
    return .double(total.sum.value / Double(total.count))
  }
}

extension AggregateTotals.Total {
  fileprivate mutating func take(_ value: JSONValue, by step: Int) {
    switch value {
    case .int(let number): if step > 0 { sum.add(number) } else { sum.subtract(number) }
    case .uint(let number): if step > 0 { sum.add(Double(number)) } else { sum.subtract(Double(number)) }
    case .double(let number):
      reals += step
      if step > 0 { sum.add(number) } else { sum.subtract(number) }
    case .null, .bool, .string, .array, .object: return
    }
    count += step
  }
}
