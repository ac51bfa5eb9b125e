package import MartletJSON

/// One way in which a predicate can be true: some fields equal to given values, and a residue.
///
/// A record fulfils a predicate exactly when it fulfils one of its branches. Records that lack the equalities need no
/// look at the residue: that is what the subscription index lives on.
package struct EqualityBranch: Sendable, Hashable {
  /// Positions of the fields that must be equal, ascending. These are the branch's signature.
  package private(set) var fields: [Int]
  /// What they must equal, in the order of `fields`, in the form of `ValueOrder.key`.
  package private(set) var values: [JSONValue]
  /// What must hold besides.
  package private(set) var residue: Predicate

  package init(fields: [Int] = [], values: [JSONValue] = [], residue: Predicate = .all) {
    self.fields = fields
    self.values = values
    self.residue = residue
  }

  /// Whether the branch asks for something that no table can look up.
  package var mustBeScanned: Bool { fields.isEmpty && residue != .all }

  /// The branch with only its first equality looked up; the others become part of the residue.
  package var narrowedToOneField: EqualityBranch {
    guard fields.count > 1 else { return self }
    var parts = zip(fields, values).dropFirst().map { Predicate.compare(field: $0, .eq($1)) }
    if residue != .all { parts.append(residue) }
    return EqualityBranch(
      fields: [fields[0]], values: [values[0]], residue: parts.count == 1 ? parts[0] : .and(parts))
  }

  /// Both branches at once; nil when they ask one field for two values.
  func merged(_ other: EqualityBranch) -> EqualityBranch? {
    var result = EqualityBranch(residue: residue.and(other.residue))
    var (left, right) = (0, 0)
    while left < fields.count || right < other.fields.count {
      if right == other.fields.count || (left < fields.count && fields[left] < other.fields[right]) {
        result.append(fields[left], values[left])
        left += 1
      } else if left == fields.count || other.fields[right] < fields[left] {
        result.append(other.fields[right], other.values[right])
        right += 1
      } else {
        guard values[left] == other.values[right] else { return nil }
        result.append(fields[left], values[left])
        left += 1
        right += 1
      }
    }
    return result
  }

  private mutating func append(_ field: Int, _ value: JSONValue) {
    fields.append(field)
    values.append(value)
  }
}

extension Predicate {
  /// The ways in which the predicate can be true; none when it never is.
  ///
  /// Equalities come from `eq`, `in` (a branch for each value) and what negation makes of `ne` and `notIn`; `or` adds
  /// up its parts' branches and `and` combines them. Where combining would pass `limit`, the part with more branches
  /// stays whole in the residue: the result is as true, only less selective.
  package func equalityBranches(limit: Int) -> [EqualityBranch] {
    branches(isNegated: false, limit: max(limit, 1)) ?? [EqualityBranch(residue: self)]
  }

  /// Nil when there are more than `limit`.
  private func branches(isNegated: Bool, limit: Int) -> [EqualityBranch]? {
    switch self {
    case .all: isNegated ? [] : [EqualityBranch()]
    case .none: isNegated ? [EqualityBranch()] : []
    case .not(let part): part.branches(isNegated: !isNegated, limit: limit)
    case .and(let parts):
      isNegated
        ? Self.anyOf(parts, isNegated: true, limit: limit) : Self.allOf(parts, isNegated: false, limit: limit)
    case .or(let parts):
      isNegated
        ? Self.allOf(parts, isNegated: true, limit: limit) : Self.anyOf(parts, isNegated: false, limit: limit)
    case .compare(let field, let comparison): comparison.branches(field, isNegated: isNegated, limit: limit)
    }
  }

  private static func anyOf(_ parts: [Predicate], isNegated: Bool, limit: Int) -> [EqualityBranch]? {
    var all: [EqualityBranch] = []
    var seen: Set<EqualityBranch> = []
    for part in parts {
      guard let branches = part.branches(isNegated: isNegated, limit: limit) else { return nil }
      for branch in branches where seen.insert(branch).inserted { all.append(branch) }
      guard all.count <= limit else { return nil }
    }
    return all
  }

  private static func allOf(_ parts: [Predicate], isNegated: Bool, limit: Int) -> [EqualityBranch]? {
    // Few branches first, so that the parts that no longer fit are those that would multiply most.
    let factors = parts.map { part in
      (part: part, branches: part.branches(isNegated: isNegated, limit: limit))
    }.sorted { ($0.branches?.count ?? .max) < ($1.branches?.count ?? .max) }
    var all = [EqualityBranch()]
    for (part, branches) in factors {
      if let branches, branches.count * all.count <= limit {
        all = all.flatMap { left in branches.compactMap { left.merged($0) } }
      } else {
        let whole = EqualityBranch(residue: isNegated ? .not(part) : part)
        all = all.compactMap { $0.merged(whole) }
      }
    }
    return all
  }

  /// The conjunction, without needless nesting.
  func and(_ other: Predicate) -> Predicate {
    switch (self, other) {
    case (.all, _): other
    case (_, .all): self
    case (.and(let left), .and(let right)): .and(left + right)
    case (.and(let left), _): .and(left + [other])
    case (_, .and(let right)): .and([self] + right)
    case (_, _): .and([self, other])
    }
  }
}

extension Comparison {
  fileprivate func branches(_ field: Int, isNegated: Bool, limit: Int) -> [EqualityBranch]? {
    if let values = isNegated ? valuesWhenFalse : valuesWhenTrue {
      guard values.count <= limit else { return nil }
      var seen: Set<JSONValue> = []
      return values.map(ValueOrder.key).filter { seen.insert($0).inserted }
        .map { EqualityBranch(fields: [field], values: [$0]) }
    }
    let leaf = Predicate.compare(field: field, self)
    return [EqualityBranch(residue: isNegated ? .not(leaf) : leaf)]
  }

  /// The only values for which the comparison is true; nil when they cannot be listed.
  private var valuesWhenTrue: [JSONValue]? {
    switch self {
    case .eq(let value): [value]
    case .in(let values): values
    case .attributeExists(false): [.null]
    case .ne, .lt, .le, .gt, .ge, .between, .beginsWith, .contains, .notContains, .notIn, .attributeExists,
      .attributeType, .size, .moment:
      nil
    }
  }

  /// The only values for which the comparison is false; nil when they cannot be listed.
  private var valuesWhenFalse: [JSONValue]? {
    switch self {
    case .ne(let value): [value]
    case .notIn(let values): values
    case .attributeExists(true): [.null]
    case .eq, .lt, .le, .gt, .ge, .between, .beginsWith, .contains, .notContains, .in, .attributeExists,
      .attributeType, .size, .moment:
      nil
    }
  }
}

extension ValueOrder {
  /// A form in which `==` and hashing agree with `areEqual`: numbers with an integer's value are that integer.
  package static func key(_ value: JSONValue) -> JSONValue {
    guard case .double(let number) = value else { return value }
    if let whole = Int64(exactly: number) { return .int(whole) }
    if let whole = UInt64(exactly: number) { return .uint(whole) }
    return value
  }
}
