/// Defaults and arguments of applied directives are values of their type.
enum DefaultValues {
  static func check(_ schema: Schema, _ report: inout TypeSystemReport) {
    for directive in schema.directives where directive.definition != nil {
      check(directive.arguments, of: "@\(directive.name)", schema, &report)
    }
    check(schema.appliedDirectives, schema, &report)
    for type in schema.types where type.definition != nil {
      check(type.appliedDirectives, schema, &report)
      for field in type.fields {
        check(field.appliedDirectives, schema, &report)
        check(field.arguments, of: "\(type.name).\(field.name)", schema, &report)
      }
      for value in type.enumValues { check(value.appliedDirectives, schema, &report) }
      for field in type.inputFields { check(field, "\(type.name).\(field.name)", schema, &report) }
    }
  }

  private static func check(
    _ arguments: [SchemaInput], of owner: String, _ schema: Schema, _ report: inout TypeSystemReport
  ) {
    for argument in arguments { check(argument, "\(owner)(\(argument.name):)", schema, &report) }
  }

  private static func check(
    _ input: SchemaInput, _ path: String, _ schema: Schema, _ report: inout TypeSystemReport
  ) {
    check(input.appliedDirectives, schema, &report)
    guard let value = input.defaultValue, schema[input.type.named].isInput else { return }
    for problem in ConstantValue.problems(value, input.type, schema) {
      report.add(
        .defaultValues, "\(path) has invalid default value\(problem.pathText): \(problem.message)", [problem.location])
    }
  }

  private static func check(_ directives: [Directive], _ schema: Schema, _ report: inout TypeSystemReport) {
    for directive in directives {
      guard let definition = schema.directive(directive.name.text) else { continue }
      for argument in directive.arguments {
        guard let input = definition.argument(argument.name.text), schema[input.type.named].isInput else { continue }
        for problem in ConstantValue.problems(argument.value, input.type, schema) {
          report.add(
            .directiveValues,
            "Argument '@\(directive.name.text)(\(input.name):)' has invalid value\(problem.pathText): "
              + problem.message, [problem.location])
        }
      }
    }
  }
}

/// Checks values without variables against types of a schema.
enum ConstantValue {
  struct Problem {
    var message: String
    var path: String
    var location: Location

    /// ` at .a.b` for values inside others.
    var pathText: String { path.isEmpty ? "" : " at \(path)" }
  }

  /// Every way in which `value` is not a value of `type`.
  static func problems(_ value: Value, _ type: WrappedType, _ schema: Schema) -> [Problem] {
    let wrapper = Document(definitions: [])
    let validation = Validation(document: wrapper, schema: schema, limits: ValidationLimits())
    var problems: [Problem] = []
    find(value, type, "", validation, &problems)
    return problems
  }

  private static func find(
    _ value: Value, _ type: WrappedType, _ path: String, _ validation: Validation, _ problems: inout [Problem]
  ) {
    let before = validation.errors.count
    var nested: [(Value, WrappedType, String)] = []
    switch value.kind {
    case .variable, .int, .float, .string, .boolean, .null, .enumeration:
      ValuesOfCorrectType.checkLeaf(value, type, validation)
    case .list(let values):
      if let element = type.element {
        nested = values.enumerated().map { ($1, element, "\(path)[\($0)]") }
      } else {
        ValuesOfCorrectType.checkLeaf(value, type, validation)
      }
    case .object(let fields):
      let object = ValuesOfCorrectType.checkObject(value, fields, type, validation)
      for field in fields {
        guard let input = object?.inputField(field.name.text) else { continue }
        nested.append((field.value, input.type, "\(path).\(field.name.text)"))
      }
    }
    for error in validation.errors[before...] {
      let location = error.locations.first.map {
        Location(line: UInt32($0.line), column: UInt32($0.column), offset: UInt32($0.offset))
      }
      problems.append(Problem(message: error.message, path: path, location: location ?? value.location))
    }
    for (value, type, path) in nested { find(value, type, path, validation, &problems) }
  }
}
