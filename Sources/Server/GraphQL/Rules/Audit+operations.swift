internal import MartletAccess
internal import MartletGraphQLExecution
internal import MartletGraphQLLanguage
internal import MartletJSON
internal import MartletModelSDL
internal import MartletModels

extension Audit {
  /// Writes those of an operation's errors that rules caused.
  func judged(_ errors: [ResponseError], of plan: OperationPlan, by identity: Identity, _ models: ModelSchema) {
    guard let log else { return }
    for error in errors where error.extensions["code"] == "FORBIDDEN" {
      let field = Self.field(error, plan)
      log.write(
        .warning, "An operation was refused by the rules.",
        [(.field, "\(plan.root.name).\(field)"), (.rule, Self.rule(plan.root.name, field, models))]
          + Self.who(identity) + [(.reason, error.error.message)])
    }
  }

  // MARK: Words

  /// The field at the root of an operation that an error is about.
  private static func field(_ error: ResponseError, _ plan: OperationPlan) -> String {
    var key: String?
    if case .key(let name)? = error.error.path.first { key = name }
    for selection in plan.operation.selectionSet.selections {
      guard case .field(let field) = selection else { continue }
      if key == nil || (field.alias ?? field.name).text == key { return field.name.text }
    }
    return key ?? "-"
  }

  /// The rules that did not allow it, by the lines of the schema.
  private static func rule(_ type: String, _ field: String, _ models: ModelSchema) -> String {
    guard let (number, operation) = target(models.operations[FieldPath(type, field)]) else { return "the key's scope" }
    let model = models.models[number]
    let lines = model.access.rules.filter { $0.operations.contains(operation) }.map { rule in
      "\(name(rule.subject)) (line \(rule.place.line))"
    }
    return "\(model.name) \(operation.rawValue): " + (lines.isEmpty ? "no rule" : lines.joined(separator: ", "))
  }

  private static func target(_ operation: BuiltInOperation?) -> (model: Int, operation: AccessOperation)? {
    switch operation {
    case .get(let model): (model, .get)
    case .list(let model), .listByIndex(let model, _): (model, .list)
    case .create(let model): (model, .create)
    case .update(let model): (model, .update)
    case .delete(let model): (model, .delete)
    case .subscribe(let source): (source.model, .listen)
    case .sync(let model): (model, .sync)
    case .transaction, .changes, .treeChanges, nil: nil
    }
  }

  private static func name(_ subject: AccessRule.Subject) -> String {
    switch subject {
    case .owner: "owner"
    case .groups, .groupsField: "groups"
    case .private: "private"
    case .public: "public"
    case .custom: "custom"
    }
  }
}
