/// Implementing types have what their interfaces ask for (IsValidImplementation, section 3.6.1).
enum Interfaces {
  static func check(_ schema: Schema, _ report: inout TypeSystemReport) {
    for type in schema.types where type.definition != nil && (type.kind == .object || type.kind == .interface) {
      check(type, schema, &report)
    }
  }

  private static func check(_ type: NamedType, _ schema: Schema, _ report: inout TypeSystemReport) {
    let names = type.parts.flatMap(\.interfaces)
    var seen: Set<String> = []
    for name in names where seen.insert(name.text).inserted {
      let locations = names.filter { $0 == name }.map { Optional($0.location) }
      guard let interface = schema.type(name.text), interface.kind == .interface else {
        report.add(
          .interfaces, "Type \(type.name) must only implement Interface types, it cannot implement \(name.text).",
          locations)
        continue
      }
      guard interface !== type else {
        report.add(
          .interfaces, "Type \(type.name) cannot implement itself because it would create a circular reference.",
          locations)
        continue
      }
      if locations.count > 1 {
        report.add(.interfaces, "Type \(type.name) can only implement \(name.text) once.", locations)
      }
      checkAncestors(of: interface, type, locations, schema, &report)
      for field in interface.fields { check(type, has: field, of: interface, schema, &report) }
    }
  }

  /// A type implements what its interfaces implement.
  private static func checkAncestors(
    of interface: NamedType, _ type: NamedType, _ locations: [Location?], _ schema: Schema,
    _ report: inout TypeSystemReport
  ) {
    for ancestor in interface.interfaces.map({ schema[$0] }) where !type.interfaces.contains(ancestor.id) {
      let places = interface.parts.flatMap(\.interfaces).filter { $0.text == ancestor.name }.map {
        Optional($0.location)
      }
      report.add(
        .interfaces,
        ancestor === type
          ? "Type \(type.name) cannot implement \(interface.name) because it would create a circular reference."
          : "Type \(type.name) must implement \(ancestor.name) because it is implemented by \(interface.name).",
        places + locations)
    }
  }

  private static func check(
    _ type: NamedType, has wanted: SchemaField, of interface: NamedType, _ schema: Schema,
    _ report: inout TypeSystemReport
  ) {
    let wantedPath = "\(interface.name).\(wanted.name)"
    let path = "\(type.name).\(wanted.name)"
    guard let field = type.field(wanted.name) else {
      report.add(
        .interfaces, "Interface field \(wantedPath) expected but \(type.name) does not provide it.",
        [wanted.definition?.location] + type.places)
      return
    }
    if !schema.isSubtype(field.type, of: wanted.type) {
      report.add(
        .interfaces,
        "Interface field \(wantedPath) expects type \(schema.describe(wanted.type)) but \(path) is type "
          + "\(schema.describe(field.type)).",
        [wanted.definition?.type.location, field.definition?.type.location])
    }
    for argument in wanted.arguments {
      check(field, path, takes: argument, wantedPath, schema, &report)
    }
    for argument in field.arguments where argument.isRequired && wanted.argument(argument.name) == nil {
      report.add(
        .interfaces,
        "Argument '\(path)(\(argument.name):)' must not be required type '\(schema.describe(argument.type))' if not "
          + "provided by the Interface field '\(wantedPath)'.",
        [argument.definition?.location, wanted.definition?.location])
    }
    if field.deprecationReason != nil, wanted.deprecationReason == nil {
      report.add(
        .interfaces,
        "Interface field \(wantedPath) is not deprecated, so implementation field \(path) must not be deprecated.",
        [field.definition?.directives.deprecation, field.definition?.type.location])
    }
  }

  private static func check(
    _ field: SchemaField, _ path: String, takes wanted: SchemaInput, _ wantedPath: String, _ schema: Schema,
    _ report: inout TypeSystemReport
  ) {
    guard let argument = field.argument(wanted.name) else {
      report.add(
        .interfaces,
        "Interface field argument \(wantedPath)(\(wanted.name):) expected but \(path) does not provide it.",
        [wanted.definition?.location, field.definition?.location])
      return
    }
    guard argument.type != wanted.type else { return }
    report.add(
      .interfaces,
      "Interface field argument \(wantedPath)(\(wanted.name):) expects type \(schema.describe(wanted.type)) but "
        + "\(path)(\(wanted.name):) is type \(schema.describe(argument.type)).",
      [wanted.definition?.type.location, argument.definition?.type.location])
  }
}
