internal import MartletAccess

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
  package var listeningOwnerFields: [Int] {
    var fields: [Int] = []
    for rule in rules where rule.operations.contains(.listen) {
      if case .owner(let field, _, _) = rule.subject, !fields.contains(field) { fields.append(field) }
    }
    return fields
  }
}
