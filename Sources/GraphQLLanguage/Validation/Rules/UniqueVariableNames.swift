/// No two variables of an operation have the same name.
enum UniqueVariableNames {
  static func check(_ variables: [VariableDefinition], _ validation: Validation) {
    Repetitions.find(variables.map(\.name)) { name, locations in
      validation.report(.uniqueVariableNames, "There can be only one variable named '$\(name)'.", locations)
    }
  }
}
