package import MartletModels

/// Positions of fields. Those below 64, and so most sets, are not on the heap.
package struct FieldSet: Sendable, Hashable {
  private var low: UInt64 = 0
  private var others: Set<Int> = []

  /// No fields.
  package init() {}

  package var isEmpty: Bool { low == 0 && others.isEmpty }

  /// Adds a field.
  package mutating func insert(_ field: Int) {
    if field >= 0, field < 64 { low |= 1 << UInt64(field) } else { others.insert(field) }
  }

  package func contains(_ field: Int) -> Bool {
    field >= 0 && field < 64 ? low & (1 << UInt64(field)) != 0 : others.contains(field)
  }
}

extension Predicate {
  /// Whether the condition reads one of these fields.
  package func reads(_ fields: FieldSet) -> Bool {
    switch self {
    case .all, .none: false
    case .and(let parts), .or(let parts): parts.contains { $0.reads(fields) }
    case .not(let part): part.reads(fields)
    case .compare(let field, _): fields.contains(field)
    }
  }
}
