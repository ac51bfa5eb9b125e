/// Variables of an operation are used, be it in a fragment.
enum NoUnusedVariables {
  static func check(
    _ operation: OperationDefinition, _ usages: [Validation.VariableUsage], _ validation: Validation
  ) {
    guard !operation.variables.isEmpty else { return }
    let used = Set(usages.map(\.name))
    for variable in operation.variables where !used.contains(variable.name.text) {
      let place = operation.name.map { " in operation '\($0.text)'" } ?? ""
      validation.report(
        .noUnusedVariables, "Variable '$\(variable.name.text)' is never used\(place).", variable.location)
    }
  }
}
