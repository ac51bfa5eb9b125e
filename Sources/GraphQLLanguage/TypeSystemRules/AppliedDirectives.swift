/// Directives applied in a type system document exist, stand where they may, and have the arguments they need.
struct AppliedDirectives {
  private var definitions: [String: DirectiveDefinition] = [:]

  static func check(_ document: Document, builtIn: Document, _ report: inout TypeSystemReport) {
    var applied = AppliedDirectives()
    for definition in document.definitions + builtIn.definitions {
      if case .directive(let directive) = definition, applied.definitions[directive.name.text] == nil {
        applied.definitions[directive.name.text] = directive
      }
    }
    for definition in document.definitions {
      switch definition {
      case .operation, .fragment: break
      case .schema(let schema), .schemaExtension(let schema): applied.check(schema.directives, at: .schema, &report)
      case .directive(let directive): applied.check(directive.arguments, at: .argumentDefinition, &report)
      case .type(let type), .typeExtension(let type): applied.check(type, &report)
      }
    }
    applied.checkRepetitions(document, &report)
  }

  private func check(_ type: TypeDefinition, _ report: inout TypeSystemReport) {
    check(type.directives, at: type.kind.directiveLocation, &report)
    for field in type.fields {
      check(field.directives, at: .fieldDefinition, &report)
      check(field.arguments, at: .argumentDefinition, &report)
    }
    switch type.content {
    case .enumeration(let values):
      for value in values { check(value.directives, at: .enumValue, &report) }
    case .inputObject(let fields): check(fields, at: .inputFieldDefinition, &report)
    case .scalar, .object, .interface, .union: break
    }
  }

  private func check(
    _ inputs: [InputValueDefinition], at location: DirectiveLocation, _ report: inout TypeSystemReport
  ) {
    for input in inputs {
      check(input.directives, at: location, &report)
      if let value = input.defaultValue { checkFieldNames(value, &report) }
    }
  }

  private func check(
    _ directives: [Directive], at location: DirectiveLocation, _ report: inout TypeSystemReport
  ) {
    for directive in directives {
      for argument in directive.arguments { checkFieldNames(argument.value, &report) }
      Repetitions.find(directive.arguments.map(\.name)) { name, locations in
        report.add(.uniqueArgumentNames, "There can be only one argument named '\(name)'.", locations)
      }
      let name = directive.name.text
      guard let definition = definitions[name] else {
        report.add(.knownDirectives, "Unknown directive '@\(name)'.", [directive.location])
        continue
      }
      if !definition.locations.contains(location) {
        report.add(
          .knownDirectives, "Directive '@\(name)' may not be used on \(location.words).", [directive.location])
      }
      checkArguments(directive, definition, &report)
    }
    if location.isOfMember { checkRepetitions(directives, &report) }
  }

  private func checkArguments(
    _ directive: Directive, _ definition: DirectiveDefinition, _ report: inout TypeSystemReport
  ) {
    let name = directive.name.text
    for argument in directive.arguments
    where !definition.arguments.contains(where: { $0.name == argument.name }) {
      let near = Suggestions.near(argument.name.text, among: definition.arguments.map(\.name.text))
      report.add(
        .knownArgumentNames,
        "Unknown argument '\(argument.name.text)' on directive '@\(name)'.\(Suggestions.text(near))",
        [argument.name.location])
    }
    for input in definition.arguments where input.type.isNonNull && input.defaultValue == nil {
      guard directive.argument(input.name.text) == nil else { continue }
      report.add(
        .providedRequiredArguments,
        "Argument '@\(name)(\(input.name.text):)' of type '\(Printer.text(of: input.type))' is required, but it was not "
          + "provided.", [directive.location])
    }
  }

  private func checkFieldNames(_ value: Value, _ report: inout TypeSystemReport) {
    switch value.kind {
    case .list(let values): for value in values { checkFieldNames(value, &report) }
    case .object(let fields):
      Repetitions.find(fields.map(\.name)) { name, locations in
        for location in locations.dropFirst() {
          report.add(
            .uniqueInputFieldNames, "There can be only one input field named '\(name)'.", [locations[0], location])
        }
      }
      for field in fields { checkFieldNames(field.value, &report) }
    case .variable, .int, .float, .string, .boolean, .null, .enumeration: break
    }
  }

  /// Directives on the schema and on types count together with those on their extensions.
  private func checkRepetitions(_ document: Document, _ report: inout TypeSystemReport) {
    var schema: [Directive] = []
    var types: [String: [Directive]] = [:]
    var order: [String] = []
    for definition in document.definitions {
      switch definition {
      case .schema(let found), .schemaExtension(let found): schema += found.directives
      case .type(let type), .typeExtension(let type):
        if types[type.name.text] == nil { order.append(type.name.text) }
        types[type.name.text, default: []] += type.directives
      case .operation, .fragment, .directive: break
      }
    }
    checkRepetitions(schema, &report)
    for name in order { checkRepetitions(types[name] ?? [], &report) }
  }

  private func checkRepetitions(_ directives: [Directive], _ report: inout TypeSystemReport) {
    var first: [String: Location] = [:]
    for directive in directives {
      let name = directive.name.text
      guard let definition = definitions[name], !definition.isRepeatable else { continue }
      if let known = first[name] {
        report.add(
          .uniqueDirectivesPerLocation, "The directive '@\(name)' can only be used once at this location.",
          [known, directive.location])
      } else {
        first[name] = directive.location
      }
    }
  }
}

extension TypeKind {
  /// Where directives on types of this kind stand.
  var directiveLocation: DirectiveLocation {
    switch self {
    case .scalar: .scalar
    case .object: .object
    case .interface: .interface
    case .union: .union
    case .enumeration: .enumeration
    case .inputObject: .inputObject
    }
  }
}

extension DirectiveLocation {
  /// Whether the place is a member of something rather than something that extensions can add to.
  fileprivate var isOfMember: Bool {
    switch self {
    case .fieldDefinition, .argumentDefinition, .enumValue, .inputFieldDefinition: true
    case .query, .mutation, .subscription, .field, .fragmentDefinition, .fragmentSpread, .inlineFragment,
      .variableDefinition, .schema, .scalar, .object, .interface, .union, .enumeration, .inputObject:
      false
    }
  }
}
