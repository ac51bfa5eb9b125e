package import MartletJSON
internal import MartletPatterns

/// A written value that a model refuses.
package struct InputError: Error, Sendable, Hashable, CustomStringConvertible {
  package var model: String
  package var field: String
  package var message: String

  package var description: String { "\(model).\(field): \(message)" }
}

/// Turns the coerced input of a create, update or delete into record values.
package struct InputReader {
  package let model: ModelDefinition

  package init(_ model: ModelDefinition) {
    self.model = model
  }

  /// A whole record: written values, defaults, the time stamps at `now` (an AWSDateTime) and `freshID` where the
  /// identifier is left out.
  package func create(
    _ input: JSONObject, now: String, freshID: @autoclosure () -> String
  ) throws(InputError) -> Record {
    var values: [JSONValue] = []
    values.reserveCapacity(model.fields.count)
    for (position, field) in model.fields.enumerated() {
      var value = input[field.name] ?? field.defaultValue ?? .null
      if value.isNull {
        if position == model.createdAt || position == model.updatedAt {
          value = .string(now)
          // The caller's moment needs no check, which every creation would pay twice.
          if field.kind == .scalar(.awsDateTime), !field.isList, field.validations.isEmpty {
            values.append(value)
            continue
          }
        } else if model.primaryKey.count == 1, model.primaryKey[0] == position, field.name == "id" {
          value = .string(freshID())
        }
      }
      try check(value, field)
      values.append(Self.stored(value, field))
    }
    return Record(values: values)
  }

  /// The key an update or delete names.
  package func key(_ input: JSONObject) throws(InputError) -> RecordKey {
    var values: [JSONValue] = []
    for position in model.primaryKey {
      let field = model.fields[position]
      let value = input[field.name] ?? .null
      guard !value.isNull else { throw error(field, "identifies the record and must be given") }
      try check(value, field)
      values.append(Self.stored(value, field))
    }
    return RecordKey(values: values)
  }

  /// The fields an update changes; an absent field stays, an explicit null clears.
  package func changes(_ input: JSONObject, now: String) throws(InputError) -> [(field: Int, value: JSONValue)] {
    var changes: [(field: Int, value: JSONValue)] = []
    for (position, field) in model.fields.enumerated() where !model.primaryKey.contains(position) {
      guard let value = input[field.name] else {
        if position == model.updatedAt { changes.append((position, .string(now))) }
        continue
      }
      try check(value, field)
      changes.append((position, Self.stored(value, field)))
    }
    return changes
  }

  /// A whole number in a Float field is a double, so that equal numbers are equal values.
  private static func stored(_ value: JSONValue, _ field: ModelField) -> JSONValue {
    guard field.kind == .scalar(.float) else { return value }
    if case .array(let items) = value {
      return .array(items.map { item in item.double.map { .double($0) } ?? item })
    }
    return value.double.map { .double($0) } ?? value
  }

  private func check(_ value: JSONValue, _ field: ModelField) throws(InputError) {
    if value.isNull {
      if field.isRequired { throw error(field, "must not be null") }
      return
    }
    guard field.isList else { return try checkSingle(value, field) }
    guard let items = value.array else { throw error(field, "must be a list") }
    for item in items {
      if item.isNull {
        if field.isElementRequired { throw error(field, "must not have null elements") }
      } else {
        try checkSingle(item, field)
      }
    }
  }

  private func checkSingle(_ value: JSONValue, _ field: ModelField) throws(InputError) {
    switch field.kind {
    case .scalar(let kind):
      guard kind.accepts(value) else { throw error(field, "is no \(kind.rawValue)") }
    case .enumeration(let name, let values):
      guard let text = value.string, values.contains(where: { $0.hasSameBytes(as: text) }) else {
        throw error(field, "is not a value of \(name)")
      }
    case .embedded:
      guard value.object != nil else { throw error(field, "must be an object") }
    }
    for validation in field.validations where !validation.accepts(value) {
      throw error(field, validation.errorMessage ?? "does not satisfy \(validation.rule.rawValue) \(validation.value)")
    }
  }

  private func error(_ field: ModelField, _ message: String) -> InputError {
    InputError(model: model.name, field: field.name, message: message)
  }
}

extension FieldValidation {
  /// Whether `value` passes. `matches` finds its expression anywhere in the text, in linear time unless the expression
  /// looks ahead, refers back or has another form that only the standard library's engine knows; one that neither
  /// engine compiles refuses every value.
  package func accepts(_ value: JSONValue) -> Bool {
    switch rule {
    case .gt: number(value) { $0 > $1 }
    case .lt: number(value) { $0 < $1 }
    case .gte: number(value) { $0 >= $1 }
    case .lte: number(value) { $0 <= $1 }
    case .minLength: number(.int(Int64(value.string?.unicodeScalars.count ?? 0))) { $0 >= $1 }
    case .maxLength: number(.int(Int64(value.string?.unicodeScalars.count ?? 0))) { $0 <= $1 }
    case .startsWith: value.string.map { $0.utf8.starts(with: self.value.utf8) } ?? false
    case .endsWith: value.string.map { $0.utf8.reversed().starts(with: self.value.utf8.reversed()) } ?? false
    case .matches: matches(value)
    }
  }

  private func number(_ value: JSONValue, _ holds: (Double, Double) -> Bool) -> Bool {
    guard let limit = Double(self.value), let number = value.double else { return false }
    return holds(number, limit)
  }

  private func matches(_ value: JSONValue) -> Bool {
    guard let text = value.string else { return false }
    if let pattern { return pattern.matches(text) }
    guard let expression = try? Regex(self.value) else { return false }
    return text.contains(expression)
  }
}
