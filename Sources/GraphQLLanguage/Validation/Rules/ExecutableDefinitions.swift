/// A request consists of operations and fragments only.
enum ExecutableDefinitions {
  static func check(_ validation: Validation) {
    for definition in validation.document.definitions {
      let subject: String
      switch definition {
      case .operation, .fragment: continue
      case .schema, .schemaExtension: subject = "schema"
      case .type(let type), .typeExtension(let type): subject = "'\(type.name.text)'"
      case .directive(let directive): subject = "'\(directive.name.text)'"
      }
      validation.report(
        .executableDefinitions, "The \(subject) definition is not executable.", definition.location)
    }
  }
}
