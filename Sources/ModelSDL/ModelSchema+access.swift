package import MartletAccess
package import MartletModels

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
