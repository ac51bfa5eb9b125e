package import MartletJSON

extension FilterReader {
  /// The predicate that a sort key condition means on the key's `fields`.
  ///
  /// A condition on one field has its operators directly. A composite one gives each operator an object with a value
  /// for the first field, the first two, and so on: keys compare field by field from the first, as far as values are
  /// given, and the last given text of `beginsWith` may continue.
  package mutating func readKey(
    _ condition: JSONValue?, fields: [Int], path: String
  ) throws(FilterError) -> Predicate {
    guard let condition, !condition.isNull, let first = fields.first else { return .all }
    var parts: [Predicate] = []
    if fields.count == 1 {
      parts = try operators(condition, on: first, path)
    } else {
      guard let members = condition.object else { throw FilterError(path: path, message: "must be an object") }
      for (name, operand) in members where !operand.isNull {
        parts.append(try composite(name, operand, fields, "\(path).\(name)"))
      }
    }
    return parts.count == 1 ? parts[0] : parts.isEmpty ? .all : .and(parts)
  }

  private func composite(
    _ name: String, _ operand: JSONValue, _ fields: [Int], _ path: String
  ) throws(FilterError) -> Predicate {
    switch name {
    case "between":
      guard let ends = operand.array, ends.count == 2 else {
        throw FilterError(path: path, message: "needs a list of two keys")
      }
      let low = ordered(try prefix(ends[0], fields, "\(path)[0]"), { .gt($0) }, { .ge($0) })
      let high = ordered(try prefix(ends[1], fields, "\(path)[1]"), { .lt($0) }, { .le($0) })
      return .and([low, high])
    case "beginsWith":
      var given = try prefix(operand, fields, path)
      guard let last = given.popLast(), let text = last.value.string else {
        throw FilterError(path: path, message: "ends with a field that is not a text")
      }
      return .and(equal(given) + [.compare(field: last.field, .beginsWith(TextPrefix(text)))])
    case "eq": return .and(equal(try prefix(operand, fields, path)))
    case "lt": return ordered(try prefix(operand, fields, path), { .lt($0) }, { .lt($0) })
    case "le": return ordered(try prefix(operand, fields, path), { .lt($0) }, { .le($0) })
    case "gt": return ordered(try prefix(operand, fields, path), { .gt($0) }, { .gt($0) })
    case "ge": return ordered(try prefix(operand, fields, path), { .gt($0) }, { .ge($0) })
    default: throw FilterError(path: path, message: "is not an operator")
    }
  }

  private typealias Part = (field: Int, value: JSONValue)

  /// The given values of the key, which must be its first ones.
  private func prefix(_ operand: JSONValue, _ fields: [Int], _ path: String) throws(FilterError) -> [Part] {
    guard let members = operand.object else { throw FilterError(path: path, message: "must be an object") }
    var parts: [Part] = []
    for (position, field) in fields.enumerated() {
      let name = model.fields[field].name
      guard let value = members[name], !value.isNull else { continue }
      guard parts.count == position else {
        throw FilterError(path: "\(path).\(name)", message: "needs the fields of the key before it")
      }
      parts.append((field, value))
    }
    guard !parts.isEmpty else { throw FilterError(path: path, message: "gives no field of the key") }
    return parts
  }

  private func equal(_ parts: [Part]) -> [Predicate] { parts.map { compare($0.field, .eq($0.value)) } }

  private func compare(_ field: Int, _ comparison: Comparison) -> Predicate {
    .compare(field: field, model.fields[field].isMoment ? comparison.ofMoments : comparison)
  }

  /// Field by field: strictly ordered at some field and equal before it, or `last` at the last field.
  private func ordered(
    _ parts: [Part], _ strict: (JSONValue) -> Comparison, _ last: (JSONValue) -> Comparison
  ) -> Predicate {
    let alternatives = parts.indices.map { position -> Predicate in
      let isLast = position == parts.count - 1
      let comparison = isLast ? last(parts[position].value) : strict(parts[position].value)
      let here = compare(parts[position].field, comparison)
      return position == 0 ? here : .and(equal(Array(parts[..<position])) + [here])
    }
    return alternatives.count == 1 ? alternatives[0] : .or(alternatives)
  }
}
