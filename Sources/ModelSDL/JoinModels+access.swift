import MartletGraphQLLanguage
internal import MartletModels

extension JoinModels {
  /// The rules of a join model: those of both its sides, each once. Nil where a side has none, and so is closed.
  ///
  /// They read the join's own records. A field by which a side's rule names owners or groups is therefore a field of
  /// the join too.
  ///
  /// - Parameter taken: Fields that the join has. A rule that reads one of that name is left out: there it would mean
  ///   something else.
  static func access(of sides: [TypeDefinition], taken: Set<String>) -> (
    directive: Directive, fields: [FieldDefinition]
  )? {
    var rules: [String: Value] = [:]
    var order: [String] = []
    var fields: [FieldDefinition] = []
    for side in sides {
      let own = side.directive("auth")?.argument("rules")?.elements ?? []
      if own.isEmpty { return nil }
      for rule in own {
        if let name = namingField(rule) {
          if taken.contains(name) { continue }
          if let field = side.fields.first(where: { $0.name.text == name }) {
            // Reading the side complains about it.
            if field.isRelation { continue }
            if !fields.contains(where: { $0.name.text == name }) {
              fields.append(FieldDefinition(name: Name(name), type: field.type.nullable))
            }
          } else if name != "owner" {
            continue
          }
        }
        let text = Printer.text(of: rule)
        if rules.updateValue(rule, forKey: text) == nil { order.append(text) }
      }
    }
    let joined = order.compactMap { rules[$0] }
    return joined.isEmpty ? nil : (Directive("auth", [("rules", .list(joined))]), fields)
  }

  /// The field by which a rule names owners or groups; nil for a rule that reads none.
  private static func namingField(_ rule: Value) -> String? {
    switch rule["allow"]?.kind {
    case .enumeration("owner")?: rule["ownerField"]?.string ?? "owner"
    case .enumeration("groups")? where rule["groups"].map(\.isNull) ?? true: rule["groupsField"]?.string ?? "groups"
    default: nil
    }
  }
}

extension Value {
  /// The elements of a list; a single value stands for a list of one.
  fileprivate var elements: [Value] {
    switch kind {
    case .list(let values): values
    case .object: [self]
    case .variable, .int, .float, .string, .boolean, .null, .enumeration: []
    }
  }
}

extension TypeReference {
  /// The type with null.
  fileprivate var nullable: TypeReference {
    if case .nonNull(let type, _) = self { type } else { self }
  }
}
