/// Variables that an operation uses, also through fragments, are its own.
enum NoUndefinedVariables {
  static func check(
    _ operation: OperationDefinition, _ usages: [Validation.VariableUsage], _ validation: Validation
  ) {
    guard !usages.isEmpty else { return }
    let defined = Set(operation.variables.map(\.name.text))
    for usage in usages where !defined.contains(usage.name) {
      let place = operation.name.map { " by operation '\($0.text)'" } ?? ""
      validation.report(
        .noUndefinedVariables, "Variable '$\(usage.name)' is not defined\(place).", usage.location, operation.location)
    }
  }
}
