/// Types have members, and the members are of kinds that fit.
enum Members {
  static func check(_ schema: Schema, _ report: inout TypeSystemReport) {
    for directive in schema.directives where directive.definition != nil {
      check(directive.arguments, of: "@\(directive.name)", schema, &report)
    }
    for type in schema.types where type.definition != nil {
      switch type.kind {
      case .scalar: break
      case .object, .interface: checkFields(type, schema, &report)
      case .union: checkUnion(type, schema, &report)
      case .enumeration:
        if type.enumValues.isEmpty {
          report.add(.members, "Enum type \(type.name) must define one or more values.", type.places)
        }
      case .inputObject: checkInput(type, schema, &report)
      }
    }
  }

  private static func checkFields(_ type: NamedType, _ schema: Schema, _ report: inout TypeSystemReport) {
    if type.fields.isEmpty {
      report.add(.members, "Type \(type.name) must define one or more fields.", type.places)
    }
    for field in type.fields {
      let path = "\(type.name).\(field.name)"
      if !schema[field.type.named].isOutput {
        report.add(
          .members, "The type of \(path) must be Output Type but got: \(schema.describe(field.type)).",
          [field.definition?.type.location])
      }
      check(field.arguments, of: path, schema, &report)
    }
  }

  private static func check(
    _ arguments: [SchemaInput], of owner: String, _ schema: Schema, _ report: inout TypeSystemReport
  ) {
    for argument in arguments {
      let path = "\(owner)(\(argument.name):)"
      checkType(argument, path, schema, &report)
      if argument.isRequired, argument.deprecationReason != nil {
        report.add(
          .deprecation, "Required argument \(path) cannot be deprecated.",
          [argument.definition?.directives.deprecation, argument.definition?.type.location])
      }
    }
  }

  private static func checkType(
    _ input: SchemaInput, _ path: String, _ schema: Schema, _ report: inout TypeSystemReport
  ) {
    guard !schema[input.type.named].isInput else { return }
    report.add(
      .members, "The type of \(path) must be Input Type but got: \(schema.describe(input.type)).",
      [input.definition?.type.location])
  }

  private static func checkUnion(_ type: NamedType, _ schema: Schema, _ report: inout TypeSystemReport) {
    var names: [Name] = []
    for part in type.parts { if case .union(let members) = part.content { names += members } }
    if names.isEmpty {
      report.add(.members, "Union type \(type.name) must define one or more member types.", type.places)
    }
    Repetitions.find(names) { name, locations in
      report.add(.members, "Union type \(type.name) can only include type \(name) once.", locations)
    }
    for name in names where schema.type(name.text)?.kind != .object {
      report.add(
        .members, "Union type \(type.name) can only include Object types, it cannot include \(name.text).",
        [name.location])
    }
  }

  private static func checkInput(_ type: NamedType, _ schema: Schema, _ report: inout TypeSystemReport) {
    if type.inputFields.isEmpty {
      report.add(.members, "Input Object type \(type.name) must define one or more fields.", type.places)
    }
    for field in type.inputFields {
      let path = "\(type.name).\(field.name)"
      checkType(field, path, schema, &report)
      if field.isRequired, field.deprecationReason != nil {
        report.add(
          .deprecation, "Required input field \(path) cannot be deprecated.",
          [field.definition?.directives.deprecation, field.definition?.type.location])
      }
      guard type.isOneOf else { continue }
      if field.type.isNonNull {
        report.add(.oneOf, "OneOf input field \(path) must be nullable.", [field.definition?.type.location])
      }
      if field.defaultValue != nil {
        report.add(.oneOf, "OneOf input field \(path) cannot have a default value.", [field.definition?.location])
      }
    }
  }
}

extension NamedType {
  /// The definition and its extensions.
  var parts: [TypeDefinition] {
    (definition.map { [$0] } ?? []) + extensions
  }

  /// Where the definition and its extensions start.
  var places: [Location?] {
    parts.map(\.location)
  }
}

extension [Directive] {
  /// Where `@deprecated` stands.
  var deprecation: Location? {
    first { $0.name.text == "deprecated" }?.location
  }
}
