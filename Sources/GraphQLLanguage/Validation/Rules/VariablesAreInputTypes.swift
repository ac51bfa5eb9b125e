/// Variables have types that input can have.
enum VariablesAreInputTypes {
  static func check(_ variable: VariableDefinition, _ type: WrappedType, _ validation: Validation) {
    guard !validation.schema[type.named].isInput else { return }
    validation.report(
      .variablesAreInputTypes,
      "Variable '$\(variable.name.text)' cannot be non-input type '\(validation.schema.describe(type))'.",
      variable.type.location)
  }
}
