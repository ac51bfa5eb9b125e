internal import MartletGraphQLClient
internal import MartletLiveQueries
internal import MartletModels

/// Turns a typed predicate into one over positions, and notes the relations that it follows as terms.
struct PredicateTranslation {
  private let models: StoredModels
  private let model: Int
  private(set) var terms: RelatedTerms

  /// - Parameter terms: those that rows show, to which conditions are added.
  init(_ models: StoredModels, model: Int, _ terms: RelatedTerms) {
    self.models = models
    self.model = model
    self.terms = terms
  }

  /// How deep a predicate may nest. It is read by functions that call themselves, on threads with small stacks; those
  /// that programs put together have a few levels.
  private static let deepest = 200
  private var depth = 0

  private var known: StoredModels.Model { models.models[model] }

  mutating func predicate(_ predicate: QueryPredicate) throws(DataStoreError) -> Predicate {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.deepest else {
      throw DataStoreError(.invalidQuery, "a predicate over \(known.name) is more than \(Self.deepest) levels deep")
    }
    switch predicate {
    case .all: return .all
    case .and(let parts): return .and(try self.parts(parts))
    case .or(let parts): return .or(try self.parts(parts))
    case .not(let part): return .not(try self.predicate(part))
    case .field(let name, let comparison): return try compare(name, comparison)
    case .related(let name, let inner): return try follow(name, inner)
    }
  }

  private mutating func parts(_ parts: [QueryPredicate]) throws(DataStoreError) -> [Predicate] {
    var found: [Predicate] = []
    for part in parts { found.append(try predicate(part)) }
    return found
  }

  private func compare(_ name: String, _ comparison: QueryOperator) throws(DataStoreError) -> Predicate {
    if let field = known.position(of: name) {
      let comparison = comparison.comparison
      return .compare(field: field, known.moments.contains(field) ? comparison.ofMoments : comparison)
    }
    guard let relation = known.relations[name] else {
      throw DataStoreError(.invalidQuery, "\(known.name) has no field \(name)")
    }
    guard relation.holdsKey else {
      throw DataStoreError(
        .invalidQuery, "\(known.name).\(name) holds no key that could be compared; ask for it with(…)")
    }
    // The record's own key of the other is what is compared.
    if relation.ownFields.count == 1, let field = relation.ownFields.first {
      return .compare(field: field, comparison.comparison)
    }
    switch comparison {
    case .equal(.null): return .or(relation.ownFields.map { .compare(field: $0, .attributeExists(false)) })
    case .notEqual(.null): return .and(relation.ownFields.map { .compare(field: $0, .attributeExists(true)) })
    case .equal, .notEqual, .lessThan, .lessOrEqual, .greaterThan, .greaterOrEqual, .contains, .notContains,
      .beginsWith, .between:
      throw DataStoreError(
        .invalidQuery, "\(known.name).\(name) has a key of \(relation.ownFields.count) fields; ask for it with(…)")
    }
  }

  private mutating func follow(_ name: String, _ inner: QueryPredicate) throws(DataStoreError) -> Predicate {
    guard let relation = known.relations[name] else {
      throw DataStoreError(.invalidQuery, "\(known.name) has no relation \(name)")
    }
    let fields = models.models[relation.target].columns.count
    var translation = PredicateTranslation(models, model: relation.target, RelatedTerms(fields: fields))
    translation.depth = depth
    let condition = try translation.predicate(inner)
    let field = terms.add(
      RelatedTerm(
        model: relation.target, ownFields: relation.ownFields, otherFields: relation.otherFields,
        content: .exists(condition), related: translation.terms))
    return .compare(field: field, .eq(.bool(true)))
  }
}

extension QueryOperator {
  fileprivate var comparison: Comparison {
    switch self {
    case .equal(let value): .eq(value)
    case .notEqual(let value): .ne(value)
    case .lessThan(let value): .lt(value)
    case .lessOrEqual(let value): .le(value)
    case .greaterThan(let value): .gt(value)
    case .greaterOrEqual(let value): .ge(value)
    case .contains(let value): .contains(value)
    case .notContains(let value): .notContains(value)
    case .beginsWith(let text): .beginsWith(TextPrefix(text))
    case .between(let low, let high): .between(low, high)
    }
  }
}
