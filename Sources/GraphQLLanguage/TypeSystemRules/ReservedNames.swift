/// Only introspection uses names that begin with two underscores (section 2.1.9.1).
enum ReservedNames {
  static func check(_ schema: Schema, _ report: inout TypeSystemReport) {
    for directive in schema.directives {
      guard let definition = directive.definition else { continue }
      check(directive.name, definition.location, &report)
      check(directive.arguments, &report)
    }
    for type in schema.types {
      guard let definition = type.definition else { continue }
      check(type.name, definition.location, &report)
      for field in type.fields {
        check(field.name, field.definition?.location, &report)
        check(field.arguments, &report)
      }
      for value in type.enumValues { check(value.name, value.definition?.location, &report) }
      check(type.inputFields, &report)
    }
  }

  private static func check(_ inputs: [SchemaInput], _ report: inout TypeSystemReport) {
    for input in inputs { check(input.name, input.definition?.location, &report) }
  }

  private static func check(_ name: String, _ location: Location?, _ report: inout TypeSystemReport) {
    guard name.utf8.starts(with: "__".utf8) else { return }
    report.add(
      .reservedNames, "Name '\(name)' must not begin with '__', which is reserved by GraphQL introspection.", [location]
    )
  }
}
