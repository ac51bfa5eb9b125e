package import MartletJSON
package import MartletModels

/// A write's condition as JSON: the filter inputs of the server, with fields by their columns' names, so that a
/// migration keeps it. It is kept with the write and sent with it.
package struct StoredCondition {
  private let shape: RecordShape

  package init(_ shape: RecordShape) { self.shape = shape }

  /// Refuses what no input of a server says: null has no place in its operands, where it means that nothing is asked.
  ///
  /// - Throws: `invalid`, with the field's name.
  package func check(_ predicate: Predicate) throws(StoreError) {
    switch predicate {
    case .all, .none: return
    case .and(let parts), .or(let parts): for part in parts { try check(part) }
    case .not(let part): try check(part)
    case .compare(let field, .contains(.null)), .compare(let field, .notContains(.null)):
      guard shape.columns.indices.contains(field), shape.columns[field].storage == .json else { return }
      throw StoreError(
        .invalid, "a server cannot be asked whether \(shape.name).\(shape.columns[field].field) contains null")
    case .compare: return
    }
  }

  // MARK: Writing

  /// The condition as a filter input.
  package func json(_ predicate: Predicate) -> JSONValue {
    switch predicate {
    case .all: return [:]
    case .none: return ["or": []]
    case .and(let parts): return ["and": .array(parts.map(json))]
    case .or(let parts): return ["or": .array(parts.map(json))]
    case .not(let part): return ["not": json(part)]
    case .compare(let field, let comparison):
      let name = shape.columns.indices.contains(field) ? shape.columns[field].name : ""
      func member(_ name: String, _ operation: String, _ value: JSONValue) -> JSONValue {
        .object([name: .object([operation: value])])
      }
      if shape.columns.indices.contains(field),
        let sayable = comparison.sayable(field, as: shape.columns[field].storage)
      {
        return json(sayable)
      }
      switch comparison {
      case .eq(.null): return member(name, "attributeExists", false)
      case .ne(.null): return member(name, "attributeExists", true)
      case .eq(let value): return member(name, "eq", value)
      case .ne(let value): return member(name, "ne", value)
      case .lt(let value): return member(name, "lt", value)
      case .le(let value): return member(name, "le", value)
      case .gt(let value): return member(name, "gt", value)
      case .ge(let value): return member(name, "ge", value)
      case .between(let low, let high): return member(name, "between", [low, high])
      case .beginsWith(let prefix): return member(name, "beginsWith", .string(prefix.text))
      case .contains(let value): return member(name, "contains", value)
      case .notContains(let value): return member(name, "notContains", value)
      // Conditions of the server have no lists.
      case .in(let list): return ["or": .array(list.map { json(.compare(field: field, .eq($0))) })]
      case .notIn(let list): return ["and": .array(list.map { json(.compare(field: field, .ne($0))) })]
      case .attributeExists(let exists): return member(name, "attributeExists", .bool(exists))
      case .attributeType(let type): return member(name, "attributeType", .string(type.rawValue))
      case .size(let size): return member(name, "size", Self.json(size))
      // The server knows which of its fields are dates and times.
      case .moment(let comparison): return json(.compare(field: field, comparison))
      }
    }
  }

  private static func json(_ size: SizeComparison) -> JSONValue {
    switch size {
    case .eq(let value): ["eq": .int(value)]
    case .ne(let value): ["ne": .int(value)]
    case .lt(let value): ["lt": .int(value)]
    case .le(let value): ["le": .int(value)]
    case .gt(let value): ["gt": .int(value)]
    case .ge(let value): ["ge": .int(value)]
    case .between(let low, let high): ["between": [.int(low), .int(high)]]
    }
  }

  // MARK: Reading

  /// The condition of a filter input that `json` wrote.
  ///
  /// - Throws: `damaged` for anything else. A column that a migration has removed holds no value.
  package func predicate(_ json: JSONValue) throws(StoreError) -> Predicate {
    guard let members = json.object else { throw damaged }
    var parts: [Predicate] = []
    for (name, value) in members {
      switch name {
      case "and": parts.append(.and(try predicates(value)))
      case "or": parts.append(.or(try predicates(value)))
      case "not": parts.append(.not(try predicate(value)))
      default:
        guard let operations = value.object else { throw damaged }
        let field = shape.columns.firstIndex { $0.name.utf8.elementsEqual(name.utf8) }
        for (operation, operand) in operations {
          let comparison = try comparison(operation, operand)
          if let field {
            let isMoment = shape.columns[field].isMoment
            parts.append(.compare(field: field, isMoment ? comparison.ofMoments : comparison))
          } else {
            parts.append(comparison.holds(for: .null) ? .all : .none)
          }
        }
      }
    }
    return parts.count == 1 ? parts[0] : parts.isEmpty ? .all : .and(parts)
  }

  private var damaged: StoreError {
    StoreError(.damaged, "the outbox holds a condition of \(shape.name) that cannot be read")
  }

  private func predicates(_ json: JSONValue) throws(StoreError) -> [Predicate] {
    guard let items = json.array else { throw damaged }
    var parts: [Predicate] = []
    for item in items { parts.append(try predicate(item)) }
    return parts
  }

  private func comparison(_ name: String, _ operand: JSONValue) throws(StoreError) -> Comparison {
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
      guard let ends = operand.array, ends.count == 2 else { throw damaged }
      return .between(ends[0], ends[1])
    case "beginsWith":
      guard let text = operand.string else { throw damaged }
      return .beginsWith(TextPrefix(text))
    case "attributeExists":
      guard let exists = operand.bool else { throw damaged }
      return .attributeExists(exists)
    case "attributeType":
      guard let type = operand.string.flatMap(AttributeType.init(rawValue:)) else { throw damaged }
      return .attributeType(type)
    case "size": return .size(try size(operand))
    case _: throw damaged
    }
  }

  private func size(_ operand: JSONValue) throws(StoreError) -> SizeComparison {
    guard let member = operand.object?.first else { throw damaged }
    if member.key == "between", let ends = member.value.array, ends.count == 2, let low = ends[0].int,
      let high = ends[1].int
    {
      return .between(low, high)
    }
    guard let number = member.value.int else { throw damaged }
    switch member.key {
    case "eq": return .eq(number)
    case "ne": return .ne(number)
    case "lt": return .lt(number)
    case "le": return .le(number)
    case "gt": return .gt(number)
    case "ge": return .ge(number)
    case _: throw damaged
    }
  }
}
