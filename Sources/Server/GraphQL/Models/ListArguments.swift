internal import MartletJSON
internal import MartletModelSDL
internal import MartletModels
internal import MartletStore

/// Reads the arguments of list and index queries.
struct ListArguments {
  let model: ModelDefinition
  /// The index a query lists by; nil for the primary key.
  let index: ModelIndex?
  let limits: ServerLimits.Query
  /// What the rules allow the caller; nil where nothing restricts it.
  let outcome: RuleOutcome?

  func query(_ arguments: JSONObject) throws -> ListQuery {
    var reader = FilterReader(model, FilterLimits(limits))
    var filter = [try reader.read(arguments["filter"])]
    let fields = index?.fields ?? model.primaryKey
    var equal: [(field: Int, value: JSONValue)] = []
    var order: [SortOrder] = []
    if let hash = fields.first, let value = arguments[model.fields[hash].name], !value.isNull {
      equal = [(hash, value)]
      let sort = Array(fields.dropFirst())
      let name = ModelSchema.sortArgumentName(model, sort)
      filter.append(try reader.readKey(arguments[name], fields: sort, path: name))
      let isAscending = arguments["sortDirection"]?.string != "DESC"
      order = sort.map { SortOrder(field: $0, isAscending: isAscending) }
      if sort.isEmpty, !isAscending { order = model.primaryKey.map { SortOrder(field: $0, isAscending: false) } }
    } else if arguments["sortDirection"]?.string == "DESC" {
      order = model.primaryKey.map { SortOrder(field: $0, isAscending: false) }
    }
    try outcome?.checkOrder(by: equal.map(\.field) + order.map(\.field), for: .list, of: model)
    return ListQuery(
      model: model.number, equal: equal, filter: try restricted(filter.count == 1 ? filter[0] : .and(filter)),
      order: order,
      limit: try limit(arguments, limits.pageItems), token: arguments["nextToken"]?.string)
  }

  /// The first page of the relation's children for each parent.
  func children(
    _ relation: ModelRelation, _ parents: [[JSONValue]], _ arguments: JSONObject
  ) throws -> ChildrenQuery {
    var reader = FilterReader(model, FilterLimits(limits))
    let isAscending = arguments["sortDirection"]?.string != "DESC"
    let covering = model.indexes.first { $0.fields.starts(with: relation.targetFields) }
    let sort = covering.map { Array($0.fields.dropFirst(relation.targetFields.count)) } ?? []
    let order = sort.isEmpty && !isAscending ? model.primaryKey : sort
    // By default children come in the order of an index, which the caller did not ask for: its hidden fields are left
    // out of the order.
    let shown = order.filter { outcome?.canSort(by: $0, for: .list) ?? true }
    var filter = try restricted(try reader.read(arguments["filter"]))
    // That a child belongs to a parent says what its reference fields hold.
    let visible = relation.targetFields.compactMap { outcome?.visibility(of: $0, for: .list) }.filter { $0 != .all }
    if !visible.isEmpty { filter = .and([filter] + visible) }
    return ChildrenQuery(
      model: model.number, reference: relation.targetFields, parents: parents, filter: filter,
      order: shown.map { SortOrder(field: $0, isAscending: isAscending) },
      limit: relation.kind == .hasMany ? try limit(arguments, relation.limit) : 1)
  }

  /// The caller's filter within the records that it sees.
  private func restricted(_ filter: Predicate) throws -> Predicate {
    try outcome?.checked(filter, for: .list, of: model) ?? filter
  }

  private func limit(_ arguments: JSONObject, _ fallback: Int) throws -> Int {
    guard let limit = arguments["limit"]?.int else { return fallback }
    guard limit > 0 else { throw FilterError(path: "limit", message: "must be positive") }
    return min(Int(limit), limits.largestPage)
  }
}
