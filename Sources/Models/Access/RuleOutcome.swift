package import MartletAccess
internal import MartletJSON

/// What the rules of a model allow one caller, without saying which caller.
///
/// Rules of operations are predicates over the record's own fields, in a canonical form: two callers for which the
/// rules come to the same have equal outcomes. What they share when they read is decided by `reading` alone.
package struct RuleOutcome: Sendable, Hashable {
  /// The model's number.
  package let model: Int
  /// The records on which each operation is allowed; an operation that is not here is not allowed at all.
  private var records: [AccessOperation: Predicate]
  /// The records in which a stored field is readable or writable, for fields with rules of their own.
  private var fields: [Int: [AccessOperation: Predicate]]
  private var relations: [String: [AccessOperation: Predicate]]
  /// What a new record's owner fields hold when the caller gives none.
  private var owners: [Owner]

  private struct Owner: Sendable, Hashable {
    var field: Int
    var value: JSONValue
  }

  package init(_ model: ModelDefinition, _ identity: Identity, isOpen: Bool) {
    let operations = AccessOperation.allCases.filter { identity.scope.contains($0, on: model.name) }
    func outcomes(_ rules: [AccessRule]) -> [AccessOperation: Predicate] {
      isOpen
        ? Dictionary(uniqueKeysWithValues: operations.map { ($0, .all) })
        : Self.outcomes(rules, for: operations, by: identity)
    }
    self.model = model.number
    records = outcomes(model.access.rules)
    fields = isOpen ? [:] : model.access.fieldRules.mapValues(outcomes)
    relations = isOpen ? [:] : model.access.relationRules.mapValues(outcomes)
    owners = isOpen ? [] : Self.owners(model, identity)
  }

  /// The records on which each operation is allowed, without those on which it never is.
  ///
  /// Each rule is read once for the caller, and operations with the same rules share one predicate: a connection of a
  /// caller that was never seen makes all of this anew.
  private static func outcomes(
    _ rules: [AccessRule], for operations: [AccessOperation], by identity: Identity
  ) -> [AccessOperation: Predicate] {
    let meant = rules.filter { $0.providers.contains(identity.provider) }
    guard !meant.isEmpty else { return [:] }
    let records = meant.map { $0.records(of: identity) }
    var made: [(rules: [Int], predicate: Predicate)] = []
    var found: [AccessOperation: Predicate] = [:]
    for operation in operations {
      let holding = meant.indices.filter { records[$0] != .none && meant[$0].operations.contains(operation) }
      if holding.isEmpty { continue }
      let predicate: Predicate
      if let known = made.first(where: { $0.rules == holding }) {
        predicate = known.predicate
      } else {
        predicate = Predicate.or(holding.map { records[$0] }).canonical
        made.append((holding, predicate))
      }
      if predicate != .none { found[operation] = predicate }
    }
    return found
  }

  private static func owners(_ model: ModelDefinition, _ identity: Identity) -> [Owner] {
    var owners: [Owner] = []
    for rule in model.access.rules {
      guard case .owner(let field, let isList, let claim) = rule.subject, rule.operations.contains(.create),
        rule.providers.contains(identity.provider), let name = claim.values(of: identity).first,
        !owners.contains(where: { $0.field == field })
      else { continue }
      owners.append(Owner(field: field, value: isList ? .array([.string(name)]) : .string(name)))
    }
    return owners
  }

  // MARK: Reading

  /// The records on which `operation` is allowed: to be added to every query, and asked of every change.
  package func predicate(for operation: AccessOperation) -> Predicate { records[operation] ?? .none }

  /// The records in which a field's value is shown. For records that `predicate(for:)` does not hold for, it says
  /// nothing.
  package func visibility(of field: Int, for operation: AccessOperation) -> Predicate {
    guard let rules = fields[field] else { return .all }
    return rules[operation] ?? .none
  }

  /// Whether a relation may be followed from a record.
  package func shows(relation: String, of record: Record, for operation: AccessOperation) -> Bool {
    guard let rules = relations[relation] else { return true }
    return rules[operation]?.matches(record) ?? false
  }

  /// The record as the caller sees it, hidden fields being null; nil when the caller does not see it at all.
  package func view(of record: Record, for operation: AccessOperation) -> Record? {
    guard predicate(for: operation).matches(record) else { return nil }
    return masked(record, for: operation)
  }

  /// The same for a record that `predicate(for:)` is known to hold for.
  package func masked(_ record: Record, for operation: AccessOperation) -> Record {
    var view = record
    for field in fields.keys where field < view.values.count {
      if !visibility(of: field, for: operation).matches(record) { view.values[field] = .null }
    }
    return view
  }

  /// Whether some field or relation may be hidden in a record that is seen.
  package func hidesParts(for operation: AccessOperation) -> Bool {
    fields.contains { $0.value[operation] != .all } || relations.contains { $0.value[operation] != .all }
  }

  /// The fields that a condition reads and whose values the caller does not see in any record: such a condition would
  /// only probe for them.
  package func hiddenFields(of condition: Predicate, for operation: AccessOperation) -> [Int] {
    condition.fields.filter { visibility(of: $0, for: operation) == .none }.sorted()
  }

  /// Whether `operation` can be allowed on a record whose field holds this text, or has it in its list.
  package func mayAllow(_ operation: AccessOperation, where field: Int, names text: String) -> Bool {
    predicate(for: operation).admits(field, text)
  }

  /// What a filter comes to for this caller: true for the records that the caller sees, and whose visible values fulfil
  /// the filter. A hidden value counts as null, so that no filter says anything about it.
  package func restricted(_ filter: Predicate, for operation: AccessOperation) -> Predicate {
    Predicate.and([predicate(for: operation), onVisible(filter, operation)]).canonical
  }

  private func onVisible(_ filter: Predicate, _ operation: AccessOperation) -> Predicate {
    switch filter {
    case .all, .none: return filter
    case .and(let parts): return .and(parts.map { onVisible($0, operation) })
    case .or(let parts): return .or(parts.map { onVisible($0, operation) })
    case .not(let part): return .not(onVisible(part, operation))
    case .compare(let field, let comparison):
      let visible = visibility(of: field, for: operation)
      if visible == .all { return filter }
      let hidden: Predicate = comparison.holds(for: .null) ? .not(visible) : .none
      return .or([.and([visible, filter]), hidden])
    }
  }

  /// Whether records may be sorted, or found by an index, by a field: only where it is visible in all that are seen,
  /// because the order of hidden values would reveal them.
  package func canSort(by field: Int, for operation: AccessOperation) -> Bool {
    visibility(of: field, for: operation) == .all
  }

  // MARK: Identity of the outcome

  /// The part that decides what the caller sees: equal for two callers that see the same, whatever they may write. It
  /// is what group keys compare.
  package var reading: RuleOutcome {
    var part = self
    func reads(_ outcomes: [AccessOperation: Predicate]) -> [AccessOperation: Predicate] {
      outcomes.filter { AccessOperation.reads.contains($0.key) }
    }
    part.records = reads(records)
    // A field or relation that is shown in every record that is seen has no effect.
    func isShown(_ outcomes: [AccessOperation: Predicate]) -> Bool {
      part.records.keys.allSatisfy { outcomes[$0] == .all }
    }
    part.fields = fields.mapValues(reads).filter { !isShown($0.value) }
    part.relations = relations.mapValues(reads).filter { !isShown($0.value) }
    part.owners = []
    return part
  }

  /// The outcome in bytes, owner defaults apart: equal for equal outcomes, in every process and on every machine.
  package var canonicalBytes: [UInt8] {
    var text = "\(model)"
    // Most operations have the predicate of the one before.
    var last: (predicate: Predicate, text: String)?
    func add(_ name: String, _ outcomes: [AccessOperation: Predicate]) {
      text += "\n\(name)"
      for operation in AccessOperation.allCases {
        guard let predicate = outcomes[operation] else { continue }
        if last?.predicate != predicate { last = (predicate, predicate.canonicalText) }
        text += " \(operation.rawValue)=\(last?.text ?? "")"
      }
    }
    add("records", records)
    for field in fields.keys.sorted() { add("field \(field)", fields[field] ?? [:]) }
    for name in relations.keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
      add("relation \(name)", relations[name] ?? [:])
    }
    return Array(text.utf8)
  }

  /// The digest of what the caller sees, which `ready` and `resume` carry.
  ///
  /// - Parameter digest: A cryptographic digest: callers choose their own names, and must not find two with one digest.
  package func digest(using digest: ([UInt8]) -> [UInt8]) -> [UInt8] { digest(reading.canonicalBytes) }
}

extension Predicate {
  /// Whether the condition can hold for a record whose field names `text`, as far as the form of rules shows.
  fileprivate func admits(_ position: Int, _ text: String) -> Bool {
    switch self {
    case .none: return false
    case .and(let parts): return parts.allSatisfy { $0.admits(position, text) }
    case .or(let parts): return parts.contains { $0.admits(position, text) }
    case .compare(position, .eq(let value)): return ValueOrder.areEqual(value, .string(text))
    case .compare(position, .in(let values)): return values.contains { ValueOrder.areEqual($0, .string(text)) }
    case .compare(position, .contains(let value)): return ValueOrder.areEqual(value, .string(text))
    case .all, .not, .compare: return true
    }
  }
}

extension RuleOutcome {
  /// Why a write is refused. It names fields, never values.
  package enum Denial: Error, Sendable, Hashable {
    /// No rule allows the operation on this record.
    case operation(AccessOperation)
    /// No rule allows the operation to write these fields, by position.
    case fields(AccessOperation, [Int])
  }

  /// The new record with the caller in its owner fields, where the caller gave none.
  package func owned(_ record: Record, given: Set<Int>) -> Record {
    var owned = record
    for owner in owners where !given.contains(owner.field) && owner.field < owned.values.count {
      if owned.values[owner.field].isNull { owned.values[owner.field] = owner.value }
    }
    return owned
  }

  /// Checks a creation. `given` are the fields that the caller wrote.
  package func checkCreation(of record: Record, given: Set<Int>) throws(Denial) {
    try check(.create, record, given)
  }

  /// Checks a change, by the record as it was: a caller that may change a record may also give it away.
  package func checkUpdate(of before: Record, changing changed: Set<Int>) throws(Denial) {
    try check(.update, before, changed)
  }

  package func checkDeletion(of before: Record) throws(Denial) {
    try check(.delete, before, [])
  }

  private func check(_ operation: AccessOperation, _ record: Record, _ written: Set<Int>) throws(Denial) {
    guard predicate(for: operation).matches(record) else { throw .operation(operation) }
    let denied = written.filter { !visibility(of: $0, for: operation).matches(record) }
    guard denied.isEmpty else { throw .fields(operation, denied.sorted()) }
  }
}
