internal import MartletAccess
internal import MartletGraphQLExecution
internal import MartletGraphQLLanguage
internal import MartletModelSDL
internal import MartletModels

extension AccessScope {
  /// The first root field of an operation that credentials with this scope may not use; nil when they may use all.
  ///
  /// Generated fields are judged where they are resolved, by their model. Fields of the program's own belong to no
  /// model: credentials for some models do not reach them, others need an operation of their kind.
  func refusedField(of plan: OperationPlan, _ models: ModelSchema) -> String? {
    if self == .everything { return nil }
    return plan.rootFields.sorted().first { name in
      if name.hasPrefix("__") || models.operations[FieldPath(plan.root.name, name)] != nil { return false }
      return !allowsOwnField(of: plan.kind)
    }
  }

  private func allowsOwnField(of kind: OperationKind) -> Bool {
    guard models == nil else { return false }
    return switch kind {
    case .query: !operations.isDisjoint(with: [.get, .list])
    case .mutation: operations.isSuperset(of: [.create, .update, .delete])
    case .subscription: operations.contains(.listen)
    }
  }
}
