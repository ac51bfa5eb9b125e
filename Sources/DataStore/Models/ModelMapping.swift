internal import MartletGraphQLClient
internal import MartletJSON
internal import MartletLiveQueries
internal import MartletModels
internal import MartletStore

/// One model as a store has it: its table, and how values of its Swift type become rows and back.
struct ModelMapping: Sendable {
  let name: String
  let shape: RecordShape

  /// Determines the fields of `type`, the model number `number` of its store.
  init<M: Model>(_ type: M.Type, number: Int) throws(DataStoreError) {
    name = type.modelName
    let declared = Self.declared(type)
    let probe = TypeProbe()
    do {
      _ = try M(from: ProbeDecoder(probe: probe, codingPath: []))
    } catch {
      // What stopped it may be declared; the check below names the first field that is not.
    }
    var columns: [RecordColumn] = []
    let keys = type.primaryKey.map(\.stringValue)
    for key in M.CodingKeys.allCases.map(\.stringValue) {
      guard let storage = declared[key] ?? probe.found[key] else {
        throw DataStoreError(.invalidModel, "the type of \(name).\(key) cannot be determined")
      }
      columns.append(
        RecordColumn(
          name: key, field: key, storage: storage, signature: storage.rawValue, isRequired: keys.contains(key),
          defaultValue: .null))
    }
    let primaryKey = keys.compactMap { key in columns.firstIndex { $0.name == key } }
    guard !primaryKey.isEmpty, primaryKey.count == keys.count else {
      throw DataStoreError(.invalidModel, "\(name) has no field id, and primaryKey does not name others")
    }
    shape = RecordShape(
      model: number, name: name, tableName: name, columns: columns, key: primaryKey, indexes: [], cascades: [])
  }

  private static func declared<M: Model>(_ type: M.Type) -> [String: ColumnStorage] {
    guard let stored = type as? any StoredModel.Type else { return [:] }
    return declared(of: stored)
  }

  private static func declared<M: StoredModel>(of type: M.Type) -> [String: ColumnStorage] {
    Dictionary(type.fieldTypes.map { ($0.key.stringValue, $0.value.storage) }) { first, _ in first }
  }

  // MARK: Values

  /// The record of a model's value.
  func record(_ model: some Model) throws(DataStoreError) -> Record {
    do {
      let value = try JSONEncoding(types: .foundation).encode(model)
      return Record(values: shape.columns.map { value[$0.name] ?? .null })
    } catch {
      throw DataStoreError(.invalidModel, "a \(name) cannot be stored: \(error)")
    }
  }

  /// The value of a record.
  func model<M: Model>(_ record: Record, as type: M.Type) throws(DataStoreError) -> M {
    do {
      return try JSONDecoding(types: .foundation).decode(type, from: json(record))
    } catch {
      throw DataStoreError(.decodingError, "a stored \(name) does not decode: \(error)")
    }
  }

  /// A record as JSON, without the fields that have no value.
  func json(_ record: Record) -> JSONValue {
    .object(
      JSONObject(
        shape.columns.indices.compactMap { field in
          record[field].isNull ? nil : (key: shape.columns[field].name, value: record[field])
        }))
  }

  /// The key of a record.
  func key(_ record: Record) -> RecordKey { RecordKey(values: shape.key.map { record[$0] }) }

  /// A key's text: the one value, or each value in quotes joined by `#`.
  func text(_ key: RecordKey) -> String {
    if key.values.count == 1, let value = key.values.first { return value.string ?? value.description }
    return key.values.map { "\"\($0.string ?? $0.description)\"" }.joined(separator: "#")
  }

  // MARK: Queries

  /// The query of a typed one.
  func query(
    _ predicate: QueryPredicate?, _ sort: QuerySort?, _ page: QueryPage?
  ) throws(DataStoreError) -> WindowQuery {
    var orders: [SortOrder] = []
    for order in sort?.orders ?? [] {
      orders.append(SortOrder(field: try field(order.field), isAscending: !order.isDescending))
    }
    let limit = page.map { Int(clamping: $0.limit) }
    let offset = page.map { Int(clamping: $0.page).multipliedReportingOverflow(by: Int(clamping: $0.limit)) }
    return WindowQuery(
      model: shape.model, predicate: try self.predicate(predicate ?? .all),
      order: RowOrder(orders, primaryKey: shape.key),
      offset: offset.map { $0.overflow ? .max : $0.partialValue } ?? 0, limit: limit)
  }

  /// The query of aggregates.
  func aggregate(
    _ functions: [DataStoreAggregate], _ predicate: QueryPredicate?
  ) throws(DataStoreError) -> AggregateQuery {
    var found: [AggregateFunction] = []
    for function in functions {
      switch function.kind {
      case .count: found.append(.count)
      case .sum: found.append(.sum(field: try field(function.field)))
      case .average: found.append(.average(field: try field(function.field)))
      case .minimum: found.append(.minimum(field: try field(function.field)))
      case .maximum: found.append(.maximum(field: try field(function.field)))
      }
    }
    return AggregateQuery(
      model: shape.model, predicate: try self.predicate(predicate ?? .all), functions: found, primaryKey: shape.key)
  }

  private func field(_ name: String) throws(DataStoreError) -> Int {
    guard let field = shape.columns.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
      throw DataStoreError(.invalidQuery, "\(self.name) has no field \(name)")
    }
    return field
  }

  /// The condition of a typed predicate.
  func predicate(_ predicate: QueryPredicate) throws(DataStoreError) -> Predicate {
    switch predicate {
    case .all: return .all
    case .and(let parts): return .and(try parts.map { part throws(DataStoreError) in try self.predicate(part) })
    case .or(let parts): return .or(try parts.map { part throws(DataStoreError) in try self.predicate(part) })
    case .not(let part): return .not(try self.predicate(part))
    case .field(let name, let comparison): return .compare(field: try field(name), comparison.comparison)
    }
  }
}

extension QueryOperator {
  fileprivate var comparison: Comparison {
    switch self {
    case .equal(let value): .eq(value)
    case .notEqual(let value): .ne(value)
    case .lessThan(let value): .lt(value)
    case .lessOrEqual(let value): .le(value)
    case .greaterThan(let value): .gt(value)
    case .greaterOrEqual(let value): .ge(value)
    case .contains(let value): .contains(value)
    case .notContains(let value): .notContains(value)
    case .beginsWith(let text): .beginsWith(text)
    case .between(let low, let high): .between(low, high)
    }
  }
}
