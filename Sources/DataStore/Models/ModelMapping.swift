internal import MartletGraphQLClient
internal import MartletJSON
internal import MartletLiveQueries
internal import MartletModels
internal import MartletSQLite
internal import MartletStore

/// One model as a store has it: its table, and how values of its Swift type become rows and back.
struct ModelMapping: Sendable {
  let name: String
  let shape: RecordShape
  let relations: [String: MappedRelation]
  private let rows: RowFields
  /// Where a row's fields are in its columns; nil when some need other records.
  let columns: ColumnReader.Model?
  /// What rows need of related records.
  private let shown: RelatedTerms
  /// The fields that are stored as JSON.
  private let jsonFields: Set<Int>
  /// The fields that hold dates or times.
  private let momentFields: Set<Int>
  let models: StoredModels
  private let decoding: JSONDecoding
  let link: RoomLink

  init(
    name: String, shape: RecordShape, relations: [String: MappedRelation], rows: RowFields, shown: RelatedTerms,
    models: StoredModels, decoding: JSONDecoding, link: RoomLink
  ) {
    self.name = name
    self.shape = shape
    self.relations = relations
    self.rows = rows
    columns = FieldColumns(rows, shape).map {
      ColumnReader.Model(columns: $0, rows: rows, decoding: decoding, link: link)
    }
    self.shown = shown
    jsonFields = Set(shape.columns.indices.filter { shape.columns[$0].storage == .json })
    momentFields = Set(shape.columns.indices.filter { shape.columns[$0].isMoment })
    self.models = models
    self.decoding = decoding
    self.link = link
  }

  // MARK: Values

  /// The record of a model's value.
  func record(_ model: some Model) throws(DataStoreError) -> Record { try record(of: try json(of: model)) }

  private func json(of model: some Model) throws(DataStoreError) -> JSONValue {
    do {
      return try JSONEncoding(types: .foundation).encode(model)
    } catch {
      throw DataStoreError(.invalidModel, "a \(name) cannot be stored: \(error)")
    }
  }

  private func record(of value: JSONValue) throws(DataStoreError) -> Record {
    var record = Record(values: shape.columns.map { value[$0.name] ?? .null })
    for (column, value) in zip(shape.columns, record.values) where !column.storage.holds(value) {
      throw DataStoreError(
        .invalidModel, "\(name).\(column.name) has a value that is not stored as \(column.storage.rawValue)")
    }
    for relation in relations.values where relation.holdsKey {
      guard let other = value[relation.name]?.object else { continue }
      let names = models.models[relation.target].columns
      for (own, position) in zip(relation.ownFields, relation.otherFields) {
        let key = other[names[position]] ?? .null
        guard record[own].isNull || record[own] == key else {
          throw DataStoreError(
            .invalidModel, "\(name).\(shape.columns[own].name) and \(name).\(relation.name) name different records")
        }
        record.values[own] = key
      }
    }
    return record
  }

  /// The record of a model's value, which decodes into that value's type again: no query of the model would work over
  /// one that does not. Records of other models that are read with it are those that the value has.
  func decodableRecord<M: Model>(_ model: M) throws(DataStoreError) -> Record {
    let value = try json(of: model)
    let record = try record(of: value)
    if columns != nil {
      _ = try self.model(record, as: M.self)
    } else {
      do { _ = try decoding.decode(M.self, from: value) } catch { throw undecodable(error) }
    }
    return record
  }

  /// The value of a record.
  func model<M: Model>(_ record: Record, as type: M.Type) throws(DataStoreError) -> M {
    do {
      return try RowDecoder(record: record, fields: rows, decoding: decoding).decode(type)
    } catch {
      throw undecodable(error)
    }
  }

  /// A stored record as a program that has it as a value of its model would write it back.
  func form<M: Model>(_ type: M.Type) -> (Record) -> Record? {
    { stored in (try? model(stored, as: type)).flatMap { try? record($0) } }
  }

  /// The values of the rows of a query's page. On the thread of what is read from.
  func models<M: Model>(_ query: WindowQuery, as type: M.Type, from store: any ClientReading) throws -> [M] {
    var models: [M] = []
    if let columns {
      let isRead = try store.read(query) { statement in
        let reader = ColumnReader(statement, columns)
        if let type = type as? any RowDecodable.Type {
          models = try values(type, reader)
        } else {
          let decoder = ColumnDecoder(reader)
          while try reader.step() {
            do { models.append(try type.init(from: decoder)) } catch { throw undecodable(error) }
          }
        }
      }
      if isRead { return models }
    }
    let found = try store.rows(query, .page(offset: query.offset, count: query.limit)).rows
    models.reserveCapacity(found.count)
    for row in found { models.append(try model(row.record, as: type)) }
    return models
  }

  /// The same of a type that reads itself, which `M` is.
  private func values<Row: RowDecodable, M: Model>(_ type: Row.Type, _ reader: ColumnReader) throws -> [M] {
    var rows = ModelRows(ModelRow(reader, keys: type.CodingKeys.allCases.map { $0 }))
    do {
      let values = try type.values(of: &rows)
      // The types are one and the same. A cast of the array would look at each element.
      precondition(Row.self == M.self, "a model's rows are read as the model")
      return unsafe unsafeBitCast(values, to: [M].self)
    } catch let error as SQLiteError {
      throw error
    } catch {
      throw undecodable(error)
    }
  }

  func undecodable(_ error: any Error) -> DataStoreError {
    DataStoreError(.decodingError, "a stored \(name) does not decode: \(error)")
  }

  /// A record as JSON; fields without a value are null.
  func json(_ record: Record) -> JSONValue { rows.json(record) }

  /// The key of a record.
  func key(_ record: Record) -> RecordKey { record.key(shape.key) }

  /// The key that an identifier stands for. A number may be given as text.
  func key(_ identifier: ModelIdentifier) throws(DataStoreError) -> RecordKey {
    guard identifier.values.count == shape.key.count else {
      throw DataStoreError(
        .invalidQuery,
        "the key of \(name) has \(shape.key.count) fields, and the identifier \(identifier.values.count)")
    }
    return RecordKey(
      values: zip(shape.key, identifier.values).map { field, value in
        guard shape.columns[field].storage == .integer, let text = value.string, let number = Int64(text) else {
          return value
        }
        return .int(number)
      })
  }

  /// A key's text: the one value, or each value in quotes joined by `#`.
  func text(_ key: RecordKey) -> String {
    if key.count == 1 { return key[0].string ?? key[0].description }
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
    let condition = try condition(predicate ?? .all)
    let limit = page.map { Int(clamping: $0.limit) }
    let offset = page.map { Int(clamping: $0.page).multipliedReportingOverflow(by: Int(clamping: $0.limit)) }
    return WindowQuery(
      model: shape.model, predicate: condition.predicate, order: order(orders),
      offset: offset.map { $0.overflow ? .max : $0.partialValue } ?? 0, limit: limit, related: condition.related)
  }

  private func order(_ sort: [SortOrder]) -> RowOrder {
    RowOrder(sort, primaryKey: shape.key, jsonFields: jsonFields, momentFields: momentFields)
  }

  /// The query for the records that have `values` in `fields`.
  func query(_ fields: [Int], _ values: [JSONValue]) -> WindowQuery {
    let parts = zip(fields, values).map { Predicate.compare(field: $0, .eq($1)) }
    let isSelecting = fields.count == values.count && !values.contains { $0.isNull }
    return WindowQuery(
      model: shape.model, predicate: isSelecting ? .and(parts) : .none, order: order([]), related: shown)
  }

  /// The query for the record with this key.
  func query(_ key: RecordKey) -> WindowQuery { query(shape.key, key.values) }

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
    var translation = PredicateTranslation(models, model: shape.model, RelatedTerms(fields: shape.columns.count))
    let condition = try translation.predicate(predicate ?? .all)
    return AggregateQuery(
      model: shape.model, predicate: condition, functions: found, primaryKey: shape.key,
      jsonFields: jsonFields, momentFields: momentFields, related: translation.terms)
  }

  private func field(_ name: String) throws(DataStoreError) -> Int {
    guard let field = models.models[shape.model].position(of: name) else {
      throw DataStoreError(.invalidQuery, "\(self.name) has no field \(name)")
    }
    return field
  }

  /// A typed predicate over the record's own fields.
  /// - Throws: `invalidQuery` for what only this client can evaluate: one that follows a relation, or asks whether
  ///   a list contains null.
  func predicate(_ predicate: QueryPredicate) throws(DataStoreError) -> Predicate {
    let condition = try condition(predicate)
    guard condition.related.conditions.isEmpty else {
      throw DataStoreError(.invalidQuery, "a condition for the server cannot follow a relation of \(name)")
    }
    do { try StoredCondition(shape).check(condition.predicate) } catch { throw DataStoreError(error) }
    return condition.predicate
  }

  /// A typed predicate, and what it and the rows need of related records.
  func condition(_ predicate: QueryPredicate) throws(DataStoreError) -> (predicate: Predicate, related: RelatedTerms) {
    var translation = PredicateTranslation(models, model: shape.model, shown)
    let predicate = try translation.predicate(predicate)
    return (predicate, translation.terms)
  }

  /// Which changes an observer gets.
  struct Observed {
    var model: Int
    var condition: (predicate: Predicate, related: RelatedTerms)
  }

  /// The changes of the records that fulfil a predicate.
  func observed(_ predicate: QueryPredicate) throws(DataStoreError) -> Observed {
    Observed(model: shape.model, condition: try condition(predicate))
  }

  /// The changes of the record with this identifier.
  func observed(_ identifier: ModelIdentifier) throws(DataStoreError) -> Observed {
    let query = query(try key(identifier))
    return Observed(model: shape.model, condition: (query.predicate, query.related))
  }
}
