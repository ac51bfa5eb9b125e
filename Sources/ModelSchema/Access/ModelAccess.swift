package import MartletAccess

/// The access rules of one model.
package struct ModelAccess: Sendable, Hashable {
  /// Rules of the type. They decide which records a caller sees and writes.
  package var rules: [AccessRule] = []
  /// Rules of stored fields by position. They replace the type's for that field, within the records the type's allow.
  package var fieldRules: [Int: [AccessRule]] = [:]
  /// Rules of relations by name.
  package var relationRules: [String: [AccessRule]] = [:]

  package init() {}

  /// Whether the schema says nothing about this model.
  package var isEmpty: Bool { rules.isEmpty && fieldRules.isEmpty && relationRules.isEmpty }

  /// The fields by which owners may listen, each once and in the order of the rules.
  var listeningOwnerFields: [Int] {
    var fields: [Int] = []
    for rule in rules where rule.operations.contains(.listen) {
      if case .owner(let field, _, _) = rule.subject, !fields.contains(field) { fields.append(field) }
    }
    return fields
  }
}

extension ModelSchema {
  /// Whether any model has rules. Models without are then closed; in a schema without any rule admission alone decides.
  package var hasAccessRules: Bool { models.contains { !$0.access.isEmpty } }

  /// What the rules come to for one caller and one model.
  ///
  /// Callers with equal outcomes may share everything that is read for one of them.
  package func outcome(of number: Int, for identity: Identity) -> RuleOutcome {
    let model = models[number]
    let isOpen = identity.provider == .system || !hasAccessRules
    return RuleOutcome(model, identity, isOpen: isOpen)
  }
}
