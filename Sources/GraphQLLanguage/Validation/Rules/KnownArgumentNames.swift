/// Arguments exist on the field or directive they are given to.
enum KnownArgumentNames {
  static func check(_ argument: Argument, of owner: ArgumentOwner, _ validation: Validation) -> SchemaInput? {
    let name = argument.name.text
    switch owner {
    case .unknown: return nil
    case .field(let field, let parent):
      if let input = field.argument(name) { return input }
      let hint = validation.hint(name, among: field.arguments.map(\.name))
      validation.report(
        .knownArgumentNames,
        "Unknown argument '\(name)' on field '\(parent?.name ?? "").\(field.name)'.\(hint)",
        argument.name.location)
    case .directive(let directive):
      if let input = directive.argument(name) { return input }
      let hint = validation.hint(name, among: directive.arguments.map(\.name))
      validation.report(
        .knownArgumentNames, "Unknown argument '\(name)' on directive '@\(directive.name)'.\(hint)",
        argument.name.location)
    }
    return nil
  }
}
