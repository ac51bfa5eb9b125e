import MartletAccess
import MartletGraphQLLanguage
import MartletJSON
import MartletModels

/// Rules and what they come to, in words for an operator.
struct RuleWords {
  let model: ModelDefinition
  let identity: Identity

  func allowed(_ predicate: Predicate) -> String {
    switch predicate {
    case .all: "is allowed"
    case .none: "is refused"
    case .and, .or, .not, .compare: "is allowed where \(text(predicate))"
    }
  }

  func shown(_ predicate: Predicate) -> String {
    switch predicate {
    case .all: "shown"
    case .none: "hidden"
    case .and, .or, .not, .compare: "shown where \(text(predicate))"
    }
  }

  /// One line for each rule: what it is and whether it helps this caller.
  func rules(_ rules: [AccessRule], _ operation: AccessOperation) -> [String] {
    rules.map { rule in
      let place = rule.place.line > 0 ? "line \(rule.place.line)" : "rule"
      return "\(place), \(name(rule.subject)): \(effect(rule, operation))"
    }
  }

  private func effect(_ rule: AccessRule, _ operation: AccessOperation) -> String {
    guard rule.operations.contains(operation) else { return "not for \(operation.rawValue)" }
    guard rule.providers.contains(identity.provider) else { return "not for callers by \(identity.provider.rawValue)" }
    return switch rule.predicate(for: operation, by: identity) {
    case .all: "allows"
    case .none: "names another caller"
    case let predicate: "allows where \(text(predicate))"
    }
  }

  private func name(_ subject: AccessRule.Subject) -> String {
    switch subject {
    case .owner(let field, _, _): "owner in \(model.fields[field].name)"
    case .groups(let names, _): "groups \(names.joined(separator: ", "))"
    case .groupsField(let field, _, _): "groups in \(model.fields[field].name)"
    case .private: "private"
    case .public: "public"
    case .custom: "custom"
    }
  }

  private func text(_ predicate: Predicate) -> String {
    switch predicate {
    case .all: "always"
    case .none: "never"
    case .and(let parts): parts.map { "(\(text($0)))" }.joined(separator: " and ")
    case .or(let parts): parts.map(text).joined(separator: " or ")
    case .not(let part): "not (\(text(part)))"
    case .compare(let field, let comparison): "\(model.fields[field].name) \(text(comparison))"
    }
  }

  /// Rules compare in three ways; the others occur in filters only.
  private func text(_ comparison: Comparison) -> String {
    switch comparison {
    case .eq(let value): "is \(value)"
    case .in(let values): "is one of \(JSONValue.array(values))"
    case .contains(let value): "contains \(value)"
    case .ne, .lt, .le, .gt, .ge, .between, .beginsWith, .notContains, .notIn, .attributeExists, .attributeType, .size,
      .moment:
      "\(comparison)"
    }
  }
}
