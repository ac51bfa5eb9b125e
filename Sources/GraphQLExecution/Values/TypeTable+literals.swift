package import MartletGraphQLLanguage
package import MartletJSON

// Input coercion of literals in a document (section 6.4.1 "Coercing Field Arguments").
extension TypeTable {
  /// The coerced literal, or nil when it is not valid for the type. Variables in it are replaced by their coerced
  /// values; an absent variable leaves its input field out, and is null as a list's item.
  package func coerce(literal value: Value, to type: WrappedType, variables: JSONObject?) -> JSONValue? {
    switch value.kind {
    case .variable(let name):
      let given = variables?[name] ?? JSONValue.null
      // `nil` in an expression with JSON values would be read as JSON's null.
      if type.isNonNull, given.isNull { return Optional.none }
      return given
    case .null:
      if type.isNonNull { return Optional.none }
      return JSONValue.null
    case .int, .float, .string, .boolean, .enumeration, .list, .object: break
    }
    if let element = type.element {
      guard case .list(let items) = value.kind else {
        return coerce(literal: value, to: element, variables: variables).map { .array([$0]) }
      }
      var result: [JSONValue] = []
      result.reserveCapacity(items.count)
      for item in items {
        guard let coerced = coerce(literal: item, to: element, variables: variables) else { return nil }
        result.append(coerced)
      }
      return .array(result)
    }
    let named = schema[type.named]
    if named.kind == .inputObject { return coerceObject(value, to: named, variables: variables) }
    return try? leaf(type.named)?.parse(literal: value, variables: variables)
  }

  private func coerceObject(_ value: Value, to type: NamedType, variables: JSONObject?) -> JSONValue? {
    guard case .object(let written) = value.kind else { return nil }
    var result = JSONObject()
    var given = 0
    for field in written {
      guard type.inputField(field.name.text) != nil else { return nil }
      if !Self.isAbsent(field.value, variables) { given += 1 }
    }
    for field in type.inputFields {
      let literal = written.first { $0.name.text == field.name }?.value
      guard let literal, !Self.isAbsent(literal, variables) else {
        if field.isRequired { return nil }
        if let defaultValue = defaultValue(of: field) { result[field.name] = defaultValue }
        continue
      }
      guard let coerced = coerce(literal: literal, to: field.type, variables: variables) else { return nil }
      if type.isOneOf, case .null = coerced { return nil }
      result[field.name] = coerced
    }
    if type.isOneOf, given != 1 || written.count != 1 { return nil }
    return .object(result)
  }

  static func isAbsent(_ value: Value, _ variables: JSONObject?) -> Bool {
    if case .variable(let name) = value.kind { return variables?[name] == nil }
    return false
  }

  /// Says what is wrong with a literal that `coerce(literal:)` refused: the first fault and where it is.
  package func fault(
    in value: Value, for type: WrappedType, variables: JSONObject?, at path: InputPath = InputPath()
  ) -> (message: String, path: InputPath, location: Location)? {
    switch value.kind {
    case .variable(let name):
      guard type.isNonNull else { return nil }
      let typeText = schema.describe(type)
      switch variables?[name] {
      case nil:
        let message = "Expected variable '$\(name)' provided to type '\(typeText)' to provide a runtime value."
        return (message, path, value.location)
      case .some(.null):
        let message = "Expected variable '$\(name)' provided to non-null type '\(typeText)' not to be null."
        return (message, path, value.location)
      case .some: return nil
      }
    case .null:
      guard type.isNonNull else { return nil }
      return ("Expected value of non-null type '\(schema.describe(type))' not to be null.", path, value.location)
    case .int, .float, .string, .boolean, .enumeration, .list, .object: break
    }
    if let element = type.element {
      guard case .list(let items) = value.kind else {
        return fault(in: value, for: element, variables: variables, at: path)
      }
      for (index, item) in items.enumerated() {
        if let found = fault(in: item, for: element, variables: variables, at: path.item(index)) { return found }
      }
      return nil
    }
    let named = schema[type.named]
    if named.kind == .inputObject { return objectFault(in: value, for: named, variables: variables, at: path) }
    do {
      _ = try leaf(type.named)?.parse(literal: value, variables: variables)
      return nil
    } catch {
      return (ResolverError.text(of: error), path, value.location)
    }
  }

  private func objectFault(
    in value: Value, for type: NamedType, variables: JSONObject?, at path: InputPath
  ) -> (message: String, path: InputPath, location: Location)? {
    let shown = Printer.text(of: value)
    guard case .object(let written) = value.kind else {
      return ("Expected value of type '\(type.name)' to be an object, found: \(shown).", path, value.location)
    }
    for field in type.inputFields {
      guard let literal = written.first(where: { $0.name.text == field.name })?.value else {
        if field.isRequired {
          let message =
            "Expected value of type '\(type.name)' to include required field '\(field.name)', found: \(shown)."
          return (message, path, value.location)
        }
        continue
      }
      if type.isOneOf, case .variable(let name) = literal.kind {
        let start = "Expected variable '$\(name)' provided to field '\(field.name)' for OneOf Input Object type"
        switch variables?[name] {
        case nil: return ("\(start) '\(type.name)' to provide a runtime value.", path, value.location)
        case .some(.null): return ("\(start) '\(type.name)' not to be null.", path, value.location)
        case .some: break
        }
      }
      if Self.isAbsent(literal, variables), !field.isRequired { continue }
      if let found = fault(in: literal, for: field.type, variables: variables, at: path.field(field.name)) {
        return found
      }
    }
    for field in written where type.inputField(field.name.text) == nil {
      let message =
        "Expected value of type '\(type.name)' not to include unknown field '\(field.name.text)', found: \(shown)."
      return (message, path, value.location)
    }
    return type.isOneOf ? (Self.oneOfMessage(type), path, value.location) : nil
  }
}
