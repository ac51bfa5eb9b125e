/// Variables are used where values of their type are taken.
enum VariablesInAllowedPosition {
  static func check(
    _ operation: OperationDefinition, _ usages: [Validation.VariableUsage], _ validation: Validation
  ) {
    guard !usages.isEmpty, !operation.variables.isEmpty else { return }
    let schema = validation.schema
    var variables: [String: (definition: VariableDefinition, type: WrappedType)] = [:]
    for variable in operation.variables {
      if let type = schema.resolve(variable.type) { variables[variable.name.text] = (variable, type) }
    }
    for usage in usages {
      guard let position = usage.type, let (definition, type) = variables[usage.name] else { continue }
      if !isAllowed(type, definition.defaultValue, at: position, usage, schema) {
        validation.report(
          .variablesInAllowedPosition,
          "Variable '$\(usage.name)' of type '\(schema.describe(type))' used in position expecting type "
            + "'\(schema.describe(position))'.",
          definition.location, usage.location)
      }
      if let oneOf = usage.oneOf, !type.isNonNull {
        validation.report(
          .variablesInAllowedPosition,
          "Variable '$\(usage.name)' is of type '\(schema.describe(type))' but must be non-nullable to be used for "
            + "OneOf Input Object '\(oneOf.name)'.",
          definition.location, usage.location)
      }
    }
  }

  /// IsVariableUsageAllowed of section 5.8.5.
  private static func isAllowed(
    _ type: WrappedType, _ defaultValue: Value?, at position: WrappedType, _ usage: Validation.VariableUsage,
    _ schema: Schema
  ) -> Bool {
    guard position.isNonNull, !type.isNonNull else { return schema.isSubtype(type, of: position) }
    let hasDefault = defaultValue.map { $0.kind != .null } ?? false
    guard hasDefault || usage.hasLocationDefault else { return false }
    return schema.isSubtype(type, of: position.nullable)
  }
}
