internal import MartletAccess
internal import MartletGraphQLExecution
internal import MartletJSON
internal import MartletModels
internal import MartletStore

/// The errors of what the rules do not allow. They name types and fields of the schema, never values, and are equal
/// whether a record does not exist or the caller does not see it.
enum RuleRefusals {
  /// No rule allows the operation of a field. The words are AppSync's, which its clients look for.
  static func field(_ name: String, on type: String) -> ResolverError {
    ResolverError(message(name, on: type), extensions: codes)
  }

  /// The members of such an error's `extensions`.
  static let codes: JSONObject = ["code": "FORBIDDEN", "errorType": "Unauthorized"]

  static func message(_ name: String, on type: String) -> String { "Not Authorized to access \(name) on type \(type)" }

  /// A filter, condition or order that reads fields whose values the caller does not see.
  static func hidden(_ fields: [Int], of model: ModelDefinition) -> ResolverError {
    let names = fields.map { model.fields[$0].name }.joined(separator: ", ")
    return field(names, on: model.name)
  }

  /// A write that the rules refuse.
  static func write(_ denial: RuleOutcome.Denial, _ name: String, _ model: ModelDefinition) -> StoreError {
    switch denial {
    case .operation: StoreError(.forbidden, message(name, on: "Mutation"))
    case .fields(_, let fields):
      StoreError(.forbidden, message(fields.map { model.fields[$0].name }.joined(separator: ", "), on: model.name))
    }
  }
}

extension RuleOutcome {
  /// Refuses an operation that is not allowed on any record.
  func require(_ operation: AccessOperation, _ field: String, on type: String) throws(ResolverError) {
    guard predicate(for: operation) != .none else { throw RuleRefusals.field(field, on: type) }
  }

  /// What a condition of the caller's comes to.
  ///
  /// - Throws: when it reads a field whose values the caller never sees.
  func checked(
    _ condition: Predicate, for operation: AccessOperation, of model: ModelDefinition
  ) throws(ResolverError) -> Predicate {
    let hidden = hiddenFields(of: condition, for: operation)
    guard hidden.isEmpty else { throw RuleRefusals.hidden(hidden, of: model) }
    return restricted(condition, for: operation)
  }

  /// Refuses to order records by fields that the caller does not see in all of them, or to find records by them.
  func checkOrder(
    by fields: some Sequence<Int>, for operation: AccessOperation, of model: ModelDefinition
  ) throws(ResolverError) {
    let hidden = fields.filter { !canSort(by: $0, for: operation) }
    guard hidden.isEmpty else { throw RuleRefusals.hidden(hidden.sorted(), of: model) }
  }
}
