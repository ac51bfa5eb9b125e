internal import MartletJSON
internal import MartletModelSchema
internal import MartletStore

/// Reads the arguments of list and index queries.
struct ListArguments {
  let model: ModelDefinition
  /// The index a query lists by; nil for the primary key.
  let index: ModelIndex?

  func query(_ arguments: JSONObject) throws -> ListQuery {
    var reader = FilterReader(model)
    var filter = [try reader.read(arguments["filter"])]
    let fields = index?.fields ?? model.primaryKey
    var equal: [(field: Int, value: JSONValue)] = []
    var order: [SortOrder] = []
    if let hash = fields.first, let value = arguments[model.fields[hash].name], !value.isNull {
      equal = [(hash, value)]
      let sort = Array(fields.dropFirst())
      filter += try sortCondition(sort, arguments, &reader)
      let isAscending = arguments["sortDirection"]?.string != "DESC"
      order = sort.map { SortOrder(field: $0, isAscending: isAscending) }
      if sort.isEmpty, !isAscending { order = model.primaryKey.map { SortOrder(field: $0, isAscending: false) } }
    } else if arguments["sortDirection"]?.string == "DESC" {
      order = model.primaryKey.map { SortOrder(field: $0, isAscending: false) }
    }
    return ListQuery(
      model: model.number, equal: equal, filter: filter.count == 1 ? filter[0] : .and(filter), order: order,
      limit: try limit(arguments, ModelResolvers.pageSize), token: arguments["nextToken"]?.string)
  }

  /// The first page of the relation's children for each parent.
  func children(
    _ relation: ModelRelation, _ parents: [[JSONValue]], _ arguments: JSONObject
  ) throws -> ChildrenQuery {
    var reader = FilterReader(model)
    let isAscending = arguments["sortDirection"]?.string != "DESC"
    let covering = model.indexes.first { $0.fields.starts(with: relation.targetFields) }
    let sort = covering.map { Array($0.fields.dropFirst(relation.targetFields.count)) } ?? []
    let order = sort.isEmpty && !isAscending ? model.primaryKey : sort
    return ChildrenQuery(
      model: model.number, reference: relation.targetFields, parents: parents,
      filter: try reader.read(arguments["filter"]),
      order: order.map { SortOrder(field: $0, isAscending: isAscending) },
      limit: relation.kind == .hasMany ? try limit(arguments, relation.limit) : 1)
  }

  private func limit(_ arguments: JSONObject, _ fallback: Int) throws -> Int {
    guard let limit = arguments["limit"]?.int else { return fallback }
    guard limit > 0 else { throw FilterError(path: "limit", message: "must be positive") }
    return min(Int(limit), ModelResolvers.largestPage)
  }

  /// The condition on the sort key: operators on one field, or on composite keys field by field.
  private func sortCondition(
    _ sort: [Int], _ arguments: JSONObject, _ reader: inout FilterReader
  ) throws -> [Predicate] {
    guard let first = sort.first else { return [] }
    let name = ModelSchema.sortArgumentName(model, sort)
    guard let condition = arguments[name], !condition.isNull else { return [] }
    if sort.count == 1 { return try reader.operators(condition, on: first, name) }
    return try CompositeKeyCondition(model: model, fields: sort).predicates(condition, path: name)
  }
}

/// A condition on a sort key of several fields: compared as one, field after field.
struct CompositeKeyCondition {
  let model: ModelDefinition
  let fields: [Int]

  func predicates(_ condition: JSONValue, path: String) throws -> [Predicate] {
    var parts: [Predicate] = []
    for (name, operand) in condition.object ?? JSONObject() where !operand.isNull {
      let inner = "\(path).\(name)"
      switch name {
      case "eq": parts.append(.and(try values(operand, inner).map { .compare(field: $0.field, .eq($0.value)) }))
      case "lt", "le": parts.append(try ordered(operand, inner, isLess: true, orEqual: name == "le"))
      case "gt", "ge": parts.append(try ordered(operand, inner, isLess: false, orEqual: name == "ge"))
      case "between":
        guard let ends = operand.array, ends.count == 2 else {
          throw FilterError(path: inner, message: "needs a list of two values")
        }
        parts.append(try ordered(ends[0], inner, isLess: false, orEqual: true))
        parts.append(try ordered(ends[1], inner, isLess: true, orEqual: true))
      case "beginsWith": parts.append(try beginsWith(operand, inner))
      default: throw FilterError(path: inner, message: "is no operator")
      }
    }
    return parts
  }

  /// The given fields in key order; a prefix of the key must be given.
  private func values(_ operand: JSONValue, _ path: String) throws -> [(field: Int, value: JSONValue)] {
    var found: [(field: Int, value: JSONValue)] = []
    for (position, field) in fields.enumerated() {
      guard let value = operand[model.fields[field].name], !value.isNull else { continue }
      guard found.count == position else {
        throw FilterError(path: path, message: "names \(model.fields[field].name) without the fields before it")
      }
      found.append((field, value))
    }
    guard !found.isEmpty else { throw FilterError(path: path, message: "names no field of the key") }
    return found
  }

  /// Lexicographic order over the given fields.
  private func ordered(_ operand: JSONValue, _ path: String, isLess: Bool, orEqual: Bool) throws -> Predicate {
    let values = try values(operand, path)
    var branches: [Predicate] = []
    for (position, last) in values.enumerated() {
      let isEnd = position == values.count - 1
      let comparison: Comparison =
        isLess
        ? (isEnd && orEqual ? .le(last.value) : .lt(last.value))
        : (isEnd && orEqual ? .ge(last.value) : .gt(last.value))
      let equal = values[..<position].map { Predicate.compare(field: $0.field, .eq($0.value)) }
      branches.append(.and(equal + [.compare(field: last.field, comparison)]))
    }
    return .or(branches)
  }

  private func beginsWith(_ operand: JSONValue, _ path: String) throws -> Predicate {
    let values = try values(operand, path)
    let last = values.count - 1
    return .and(
      try values.enumerated().map { position, entry in
        guard position == last, let text = entry.value.string else {
          if position == last { throw FilterError(path: path, message: "needs text") }
          return .compare(field: entry.field, .eq(entry.value))
        }
        return .compare(field: entry.field, .beginsWith(text))
      })
  }
}
