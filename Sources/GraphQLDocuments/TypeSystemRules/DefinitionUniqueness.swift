/// What a type system document defines, it defines once.
enum DefinitionUniqueness {
  static func check(_ document: Document, _ report: inout TypeSystemReport) {
    checkSchema(document, &report)
    var types: [String: Name] = [:]
    var directives: [String: Name] = [:]
    var fields: [String: Name] = [:]
    var values: [String: Name] = [:]
    for definition in document.definitions {
      switch definition {
      case .operation, .fragment, .schema, .schemaExtension: break
      case .directive(let directive):
        let name = directive.name
        if let first = directives[name.text] {
          report.add(
            .uniqueDirectiveNames, "There can be only one directive named '@\(name.text)'.",
            [first.location, name.location])
        } else {
          directives[name.text] = name
        }
        checkArguments(directive.arguments, of: "@\(name.text)", &report)
      case .type(let type):
        if let first = types[type.name.text] {
          report.add(
            .uniqueTypeNames, "There can be only one type named '\(type.name.text)'.",
            [first.location, type.name.location])
        } else {
          types[type.name.text] = type.name
        }
        checkMembers(type, &fields, &values, &report)
      case .typeExtension(let type): checkMembers(type, &fields, &values, &report)
      }
    }
  }

  private static func checkSchema(_ document: Document, _ report: inout TypeSystemReport) {
    var hasSchema = false
    var roots: [OperationKind: Location] = [:]
    for definition in document.definitions {
      let schema: SchemaDefinition
      switch definition {
      case .schema(let found):
        schema = found
        if hasSchema {
          report.add(.loneSchemaDefinition, "Must provide only one schema definition.", [schema.location])
        }
        hasSchema = true
      case .schemaExtension(let found): schema = found
      case .operation, .fragment, .type, .typeExtension, .directive: continue
      }
      for operation in schema.operationTypes {
        if let first = roots[operation.kind] {
          report.add(
            .uniqueOperationTypes, "There can be only one \(operation.kind.rawValue) type in schema.",
            [first, operation.location])
        } else {
          roots[operation.kind] = operation.location
        }
      }
    }
  }

  /// Members are unique over a type and all its extensions, so they are distinguished by their whole name.
  private static func checkMembers(
    _ type: TypeDefinition, _ fields: inout [String: Name], _ values: inout [String: Name],
    _ report: inout TypeSystemReport
  ) {
    var names = type.fields.map(\.name)
    if case .inputObject(let inputs) = type.content { names = inputs.map(\.name) }
    for name in names {
      let path = "\(type.name.text).\(name.text)"
      if let first = fields[path] {
        report.add(
          .uniqueFieldDefinitionNames, "Field '\(path)' can only be defined once.", [first.location, name.location])
      } else {
        fields[path] = name
      }
    }
    for field in type.fields { checkArguments(field.arguments, of: "\(type.name.text).\(field.name.text)", &report) }
    guard case .enumeration(let definitions) = type.content else { return }
    for name in definitions.map(\.name) {
      let path = "\(type.name.text).\(name.text)"
      if let first = values[path] {
        report.add(
          .uniqueEnumValueNames, "Enum value '\(path)' can only be defined once.", [first.location, name.location])
      } else {
        values[path] = name
      }
    }
  }

  private static func checkArguments(
    _ arguments: [InputValueDefinition], of owner: String, _ report: inout TypeSystemReport
  ) {
    Repetitions.find(arguments.map(\.name)) { name, locations in
      report.add(
        .uniqueArgumentDefinitionNames, "Argument '\(owner)(\(name):)' can only be defined once.", locations)
    }
  }
}
