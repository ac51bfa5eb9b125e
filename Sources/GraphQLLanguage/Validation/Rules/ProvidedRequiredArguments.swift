/// Arguments without a default that exclude null are given.
enum ProvidedRequiredArguments {
  static func check(
    _ arguments: [Argument], of owner: ArgumentOwner, at location: Location, _ validation: Validation
  ) {
    let inputs: [SchemaInput]
    switch owner {
    case .field(let field, _): inputs = field.arguments
    case .directive(let directive): inputs = directive.arguments
    case .unknown: return
    }
    for input in inputs where input.isRequired && !arguments.contains(where: { $0.name.text == input.name }) {
      let subject: String
      switch owner {
      case .field(let field, let parent): subject = "\(parent?.name ?? "").\(field.name)"
      case .directive(let directive): subject = "@\(directive.name)"
      case .unknown: subject = ""
      }
      let type = validation.schema.describe(input.type)
      validation.report(
        .providedRequiredArguments,
        "Argument '\(subject)(\(input.name):)' of type '\(type)' is required, but it was not provided.", location)
    }
  }
}
