package import MartletGraphQLLanguage
package import MartletJSON

// Input coercion of variables' values (sections 3.5 to 3.12 "Input Coercion", 6.1.2 "Coercing Variable Values").
extension TypeTable {
  /// Reports one thing that is wrong with an input value.
  package typealias Report = (_ message: String, _ path: InputPath) -> Void

  /// The coerced value, or nil after at least one report. `value` is present; absence is the caller's business.
  package func coerce(
    _ value: JSONValue, to type: WrappedType, at path: InputPath = InputPath(), report: Report
  ) -> JSONValue? {
    if case .null = value {
      guard type.isNonNull else { return .null }
      report("Expected value of non-null type '\(schema.describe(type))' not to be null.", path)
      return nil
    }
    if let element = type.element {
      guard case .array(let items) = value else {
        // A value that is not a list stands for a list of itself.
        return coerce(value, to: element, at: path, report: report).map { .array([$0]) }
      }
      var result: [JSONValue] = []
      result.reserveCapacity(items.count)
      var isValid = true
      for (index, item) in items.enumerated() {
        guard let coerced = coerce(item, to: element, at: path.item(index), report: report) else {
          isValid = false
          continue
        }
        result.append(coerced)
      }
      return isValid ? Optional.some(.array(result)) : Optional.none
    }
    let named = schema[type.named]
    if named.kind == .inputObject { return coerceObject(value, to: named, at: path, report: report) }
    guard let leaf = leaf(type.named) else {
      report("Type '\(named.name)' cannot be used as an input type.", path)
      return nil
    }
    do {
      return try leaf.parse(value)
    } catch let failure as CoercionFailure {
      report(failure.message, path)
    } catch {
      report(
        "Expected value of type '\(named.name)', but encountered error '\(ResolverError.text(of: error))';"
          + " found: \(value.shown).", path)
    }
    return nil
  }

  private func coerceObject(
    _ value: JSONValue, to type: NamedType, at path: InputPath, report: Report
  ) -> JSONValue? {
    guard case .object(let members) = value else {
      report("Expected value of type '\(type.name)' to be an object, found: \(value.shown).", path)
      return nil
    }
    var result = JSONObject()
    result.reserveCapacity(members.count)
    var isValid = true
    for field in type.inputFields {
      if let member = members[field.name] {
        guard let coerced = coerce(member, to: field.type, at: path.field(field.name), report: report) else {
          isValid = false
          continue
        }
        result[field.name] = coerced
      } else if field.isRequired {
        report(
          "Expected value of type '\(type.name)' to include required field '\(field.name)', found: \(value.shown).",
          path)
        isValid = false
      } else if let defaultValue = defaultValue(of: field) {
        result[field.name] = defaultValue
      }
    }
    var known = 0
    var firstNull: String?
    for (key, member) in members {
      if let field = type.inputField(key), field.name.utf8.elementsEqual(key.utf8) {
        if known == 0, case .null = member { firstNull = key }
        known += 1
        continue
      }
      report(
        "Expected value of type '\(type.name)' not to include unknown field '\(key)', found: \(value.shown).", path)
      isValid = false
    }
    if type.isOneOf {
      if known != 1 {
        report(Self.oneOfMessage(type), path)
        isValid = false
      }
      if let firstNull {
        report(Self.oneOfMessage(type), path.field(firstNull))
        isValid = false
      }
    }
    return isValid ? Optional.some(.object(result)) : Optional.none
  }

  /// What an input object with `@oneOf` asks for.
  static func oneOfMessage(_ type: NamedType) -> String {
    "Within OneOf Input Object type '\(type.name)', exactly one field must be specified, and the value for that"
      + " field must be non-null."
  }

  /// The coerced default of an argument or input field; nil without one. Defaults were checked with the schema.
  package func defaultValue(of input: SchemaInput) -> JSONValue? {
    guard let literal = input.defaultValue else { return nil }
    return coerce(literal: literal, to: input.type, variables: nil)
  }
}
