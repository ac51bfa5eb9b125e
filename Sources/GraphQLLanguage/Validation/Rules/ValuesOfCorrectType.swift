/// Values written in a request can be values of the type of their position.
enum ValuesOfCorrectType {
  /// Checks a value that is not a variable, nor a list or object whose parts are checked by themselves.
  static func checkLeaf(_ value: Value, _ type: WrappedType, _ validation: Validation) {
    let schema = validation.schema
    if value.kind == .null {
      guard type.isNonNull else { return }
      return report("Expected value of non-null type '\(schema.describe(type))' not to be null.", value, validation)
    }
    // A single value stands for a list of one (section 3.11), so the named type decides.
    let named = schema[type.named]
    switch named.kind {
    case .scalar:
      if let problem = BuiltInScalar(named)?.problem(value) { report(problem, value, validation) }
    case .enumeration: checkEnum(value, named, validation)
    case .inputObject:
      report(
        "Expected value of type '\(named.name)' to be an object, found: \(Printer.text(of: value)).", value,
        validation)
    case .object, .interface, .union: return
    }
  }

  /// Checks an object value; returns the input object type that it is a value of.
  static func checkObject(
    _ value: Value, _ fields: [ObjectField], _ type: WrappedType, _ validation: Validation
  ) -> NamedType? {
    let named = validation.schema[type.named]
    guard named.kind == .inputObject else {
      checkLeaf(value, type, validation)
      return nil
    }
    for input in named.inputFields where input.isRequired && !fields.contains(where: { $0.name.text == input.name }) {
      report(
        "Expected value of type '\(named.name)' to include required field '\(input.name)', found: "
          + "\(Printer.text(of: value)).", value, validation)
    }
    if named.isOneOf, fields.count != 1 || fields[0].value.kind == .null {
      report(
        "Within OneOf Input Object type '\(named.name)', exactly one field must be specified, and the value for that "
          + "field must be non-null.", value, validation)
    }
    for field in fields where named.inputField(field.name.text) == nil {
      let hint = validation.hint(field.name.text, among: named.inputFields.map(\.name))
      validation.report(
        .valuesOfCorrectType,
        "Expected value of type '\(named.name)' not to include unknown field '\(field.name.text)'"
          + (hint.isEmpty ? ", found" : ".\(hint) Found") + ": \(Printer.text(of: value)).",
        field.name.location)
    }
    return named
  }

  private static func checkEnum(_ value: Value, _ type: NamedType, _ validation: Validation) {
    let names = type.enumValues.map(\.name)
    if case .enumeration(let name) = value.kind {
      guard type.enumValue(name) == nil else { return }
      let hint = validation.hint(name, among: names, "the enum value ")
      return report("Value '\(name)' does not exist in '\(type.name)' enum.\(hint)", value, validation)
    }
    let shown = Printer.text(of: value)
    let hint = validation.hint(shown, among: names, "the enum value ")
    report("Enum '\(type.name)' cannot represent non-enum value: \(shown).\(hint)", value, validation)
  }

  private static func report(_ message: @autoclosure () -> String, _ value: Value, _ validation: Validation) {
    validation.report(.valuesOfCorrectType, message(), value.location)
  }
}

/// The scalars every service has, and which literals they take (section 3.5 "Input Coercion").
enum BuiltInScalar: String {
  case int = "Int"
  case float = "Float"
  case string = "String"
  case boolean = "Boolean"
  case id = "ID"

  init?(_ type: NamedType) {
    self.init(rawValue: type.name)
  }

  /// Why the scalar does not take a literal; nil when it does.
  func problem(_ value: Value) -> String? {
    switch (self, value.kind) {
    case (.int, .int(let digits)):
      Int32(digits) == nil ? "Int cannot represent non 32-bit signed integer value: \(digits)" : nil
    case (.int, _): "Int cannot represent non-integer value: \(Printer.text(of: value))"
    case (.float, .int(let digits)), (.float, .float(let digits)):
      Double(digits)?.isFinite == true ? nil : "Float cannot represent non numeric value: \(digits)"
    case (.float, _): "Float cannot represent non numeric value: \(Printer.text(of: value))"
    case (.string, .string): nil
    case (.string, _): "String cannot represent a non string value: \(Printer.text(of: value))"
    case (.boolean, .boolean): nil
    case (.boolean, _): "Boolean cannot represent a non boolean value: \(Printer.text(of: value))"
    case (.id, .string), (.id, .int): nil
    case (.id, _): "ID cannot represent a non-string and non-integer value: \(Printer.text(of: value))"
    }
  }
}
