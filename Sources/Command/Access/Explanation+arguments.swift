import MartletAccess
import MartletGraphQLLanguage
import MartletModelSDL
import MartletModels

/// What the rules say of the fields that an operation's arguments read and write. Values of variables are not known
/// here, so that only what stands in the document is explained.
extension Explanation {
  static func argument(_ name: String, of field: Field) -> Value? {
    field.arguments.first { $0.name.text == name }?.value
  }

  // MARK: Reading

  /// The fields of filter, condition and order that may be hidden, a line each.
  ///
  /// - Parameter order: The fields by which an index finds and orders records.
  func conditions(
    _ field: Field, _ number: Int, _ operation: AccessOperation, orderedBy order: [Int] = []
  ) -> [String] {
    let outcome = schema.outcome(of: number, for: identity)
    let model = schema.models[number]
    var lines = order.filter { !outcome.canSort(by: $0, for: operation) }.map { position in
      "ordered by \(model.fields[position].name): refused, because it may be hidden"
    }
    for argument in ["filter", "condition"] {
      for position in positions(in: Self.argument(argument, of: field), of: model) {
        let name = model.fields[position].name
        switch outcome.visibility(of: position, for: operation) {
        case .all: continue
        case .none: lines.append("\(argument) reads \(name): refused, because it is hidden")
        case .and, .or, .not, .compare:
          lines.append("\(argument) reads \(name): it counts as null where it is hidden")
        }
      }
    }
    return lines
  }

  /// The fields that a filter reads, each once.
  private func positions(in filter: Value?, of model: ModelDefinition) -> [Int] {
    var found: [Int] = []
    func look(_ value: Value?) {
      switch value?.kind {
      case .list(let values): for value in values { look(value) }
      case .object(let members):
        for member in members {
          if let position = model.position(of: member.name.text) {
            if !found.contains(position) { found.append(position) }
          } else {
            look(member.value)
          }
        }
      case .variable, .int, .float, .string, .boolean, .null, .enumeration, nil: break
      }
    }
    look(filter)
    return found
  }

  // MARK: Writing

  /// The fields of an input that have rules of their own, with these rules.
  func written(_ input: Value?, _ number: Int, _ operation: AccessOperation) -> [String] {
    guard case .object(let members)? = input?.kind else { return [] }
    let model = schema.models[number]
    let words = RuleWords(model: model, identity: identity)
    let outcome = schema.outcome(of: number, for: identity)
    return members.flatMap { member -> [String] in
      guard let position = model.position(of: member.name.text), let rules = model.access.fieldRules[position] else {
        return []
      }
      let allowed = words.allowed(outcome.visibility(of: position, for: operation))
      return ["writes \(member.name.text): \(allowed)"] + words.rules(rules, operation).map { "  " + $0 }
    }
  }

  /// The writes of a transaction that stand in the document.
  func members(of transaction: Field) -> [String] {
    guard case .list(let writes)? = Self.argument("writes", of: transaction)?.kind else { return [] }
    return writes.flatMap { write -> [String] in
      guard case .object(let members) = write.kind, let member = members.first else { return [] }
      let name = member.name.text
      let (number, operation): (Int, AccessOperation)
      switch schema.operations[FieldPath("Mutation", name)] {
      case .create(let model): (number, operation) = (model, .create)
      case .update(let model): (number, operation) = (model, .update)
      case .delete(let model): (number, operation) = (model, .delete)
      case .get, .list, .listByIndex, .sync, .transaction, .subscribe, .changes, .treeChanges, nil: return []
      }
      return (allowed(name, number, operation) + written(member.value, number, operation).map { "  " + $0 }).map {
        "  " + $0
      }
    }
  }
}
