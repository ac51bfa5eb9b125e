package import MartletJSON

/// A filter, condition or key condition that does not mean anything.
package struct FilterError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Where in the filter, from its root: `filter.origin.eq`.
  package var path: String
  package var message: String
  /// It means something else to a client of AppSync's protocol than here.
  package var isAmbiguous = false

  package init(path: String, message: String, isAmbiguous: Bool = false) {
    self.path = path
    self.message = message
    self.isAmbiguous = isAmbiguous
  }

  package var description: String { "\(path): \(message)" }
}

/// Reads filter inputs (AppSync's syntax) into predicates. Several fields, and several operators on one field, must
/// all hold; `null` stands for an absent entry.
package struct FilterReader {
  package let model: ModelDefinition
  private let limits: FilterLimits
  /// Refuses several operators on one field. AppSync means by them that any holds, this package that all do; to a
  /// client of AppSync's protocol neither answer is right.
  package var refusesSeveralOperators = false
  /// What `_deleted` is in the records that the filter is for: null, or true where it is for deleted ones.
  package var deleted = JSONValue.null
  private var comparisons = 0

  package init(_ model: ModelDefinition, _ limits: FilterLimits = FilterLimits()) {
    self.model = model
    self.limits = limits
  }

  /// The predicate a filter or condition input means; everything for nil.
  package mutating func read(_ filter: JSONValue?, path: String = "filter") throws(FilterError) -> Predicate {
    try read(filter, path: path, depth: 0)
  }

  private mutating func read(_ filter: JSONValue?, path: String, depth: Int) throws(FilterError) -> Predicate {
    guard depth <= limits.depth else {
      throw FilterError(path: path, message: "a filter nests and, or and not at most \(limits.depth) deep")
    }
    guard let filter, !filter.isNull else { return .all }
    guard let members = filter.object else { throw FilterError(path: path, message: "must be an object") }
    var parts: [Predicate] = []
    for (name, value) in members where !value.isNull {
      let inner = "\(path).\(name)"
      switch name {
      case "and": parts.append(.and(try list(value, inner, depth + 1)))
      case "or": parts.append(.or(try list(value, inner, depth + 1)))
      case "not": parts.append(.not(try read(value, path: inner, depth: depth + 1)))
      default:
        if model.conflicts != nil, name == RecordStamp.deleted.fieldName {
          // What holds for all records leaves the rest as it is, so that the store finds it as without this.
          if try !holdsForDeletion(value, inner) { parts.append(.none) }
          continue
        }
        guard let field = model.position(of: name) else {
          throw FilterError(path: inner, message: "\(model.name) has no such field")
        }
        parts += try operators(value, on: field, inner)
      }
    }
    if parts.contains(.none) { return .none }
    return parts.count == 1 ? parts[0] : parts.isEmpty ? .all : .and(parts)
  }

  /// Whether a condition on `_deleted` holds, which is the same for all records that the filter is for.
  private mutating func holdsForDeletion(_ value: JSONValue, _ path: String) throws(FilterError) -> Bool {
    try operators(value, on: 0, path).allSatisfy { part in
      if case .compare(_, let comparison) = part { comparison.holds(for: deleted) } else { true }
    }
  }

  private mutating func list(_ value: JSONValue, _ path: String, _ depth: Int) throws(FilterError) -> [Predicate] {
    // GraphQL lets a single value stand for a list of one.
    guard let items = value.array else { return [try read(value, path: path, depth: depth)] }
    var parts: [Predicate] = []
    for (index, item) in items.enumerated() where !item.isNull {
      parts.append(try read(item, path: "\(path)[\(index)]", depth: depth))
    }
    return parts
  }

  /// The comparisons on one field.
  package mutating func operators(
    _ value: JSONValue, on field: Int, _ path: String
  ) throws(FilterError) -> [Predicate] {
    guard let members = value.object else { throw FilterError(path: path, message: "must be an object") }
    var parts: [Predicate] = []
    for (name, operand) in members {
      let inner = "\(path).\(name)"
      if operand.isNull, name != "eq", name != "ne" { continue }
      if refusesSeveralOperators, !parts.isEmpty {
        throw FilterError(
          path: path,
          message: "several operators on one field are OR in AppSync and AND here: write \"or\" or \"and\" instead",
          isAmbiguous: true)
      }
      comparisons += 1
      guard comparisons <= limits.comparisons else {
        throw FilterError(path: inner, message: "a filter has at most \(limits.comparisons) comparisons")
      }
      let comparison = try comparison(name, operand, inner)
      parts.append(.compare(field: field, model.fields[field].isMoment ? comparison.ofMoments : comparison))
    }
    return parts
  }

  private func comparison(_ name: String, _ operand: JSONValue, _ path: String) throws(FilterError) -> Comparison {
    switch name {
    case "eq": return .eq(operand)
    case "ne": return .ne(operand)
    case "lt": return .lt(operand)
    case "le": return .le(operand)
    case "gt": return .gt(operand)
    case "ge": return .ge(operand)
    case "contains": return .contains(operand)
    case "notContains": return .notContains(operand)
    case "between":
      guard let ends = operand.array, ends.count == 2 else {
        throw FilterError(path: path, message: "needs a list of two values")
      }
      return .between(ends[0], ends[1])
    case "beginsWith":
      guard let text = operand.string else { throw FilterError(path: path, message: "needs text") }
      return .beginsWith(TextPrefix(text))
    case "in", "notIn":
      let list = operand.array ?? [operand]
      guard list.count <= limits.listItems else {
        throw FilterError(path: path, message: "has more than \(limits.listItems) values")
      }
      return name == "in" ? .in(list) : .notIn(list)
    case "attributeExists":
      guard let exists = operand.bool else { throw FilterError(path: path, message: "needs true or false") }
      return .attributeExists(exists)
    case "attributeType":
      guard let type = operand.string.flatMap(AttributeType.init(rawValue:)) else {
        throw FilterError(path: path, message: "names no type")
      }
      return .attributeType(type)
    case "size": return .size(try size(operand, path))
    default: throw FilterError(path: path, message: "is not an operator")
    }
  }

  private func size(_ operand: JSONValue, _ path: String) throws(FilterError) -> SizeComparison {
    let members = (operand.object ?? JSONObject()).filter { !$0.value.isNull }
    guard members.count == 1, let member = members.first else {
      throw FilterError(path: path, message: "needs exactly one comparison")
    }
    if member.key == "between" {
      guard let ends = member.value.array, ends.count == 2, let low = ends[0].int, let high = ends[1].int else {
        throw FilterError(path: "\(path).between", message: "needs a list of two whole numbers")
      }
      return .between(low, high)
    }
    guard let number = member.value.int else {
      throw FilterError(path: "\(path).\(member.key)", message: "needs a whole number")
    }
    switch member.key {
    case "eq": return .eq(number)
    case "ne": return .ne(number)
    case "lt": return .lt(number)
    case "le": return .le(number)
    case "gt": return .gt(number)
    case "ge": return .ge(number)
    default: throw FilterError(path: "\(path).\(member.key)", message: "is not an operator")
    }
  }
}
