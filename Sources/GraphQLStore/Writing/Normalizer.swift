internal import MartletJSON

/// Takes a result apart into records.
///
/// Objects with identity become records of their own and are referred to; all others stay where they stand. Fields that
/// the data lack (deferred or skipped ones) are passed over, and so are nulls that stand for an error.
struct Normalizer {
  private let context: BindingContext
  private let failed: Set<String>
  private var path = ResponsePath()
  /// The writes, in the order of the data.
  private(set) var changes: [CacheChange] = []

  init(_ operation: BoundOperation, _ binder: Binder, errors: [JSONValue] = []) {
    context = BindingContext(operation: operation, binder: binder)
    failed = errors.isEmpty ? [] : ResponsePath.failed(errors)
  }

  /// Writes the data of an operation.
  mutating func write(_ data: JSONValue) throws {
    guard let object = data.object else {
      if data.isNull { return }
      throw unexpected("the data are not an object")
    }
    let selection = context.operation.selection.fields(on: nil, data: object, context)
    let root = try record(object, selection)
    guard case .kept(let prefix) = context.operation.root else { return }
    for (field, value) in root {
      var record = CacheRecord(reserving: 1)
      record[field] = value
      let known = selection.fields.first { $0.field == field }?.rootKey
      changes.append(.merge(known ?? CacheKey(prefix + "." + field.text), record))
    }
  }

  /// Writes the data of a fragment on the record `key`.
  mutating func write(_ data: JSONValue, to key: CacheKey, typename: String?) throws {
    guard let object = data.object else { throw unexpected("the data are not an object") }
    let typename = object["__typename"]?.string ?? typename
    let selection = context.operation.selection.fields(on: typename, data: object, context)
    changes.append(.merge(key, try record(object, selection)))
  }

  private mutating func field(_ json: JSONValue, _ field: TypedSelection.BoundField) throws -> CacheValue? {
    guard let selection = field.selection else {
      if json.isNull, !failed.isEmpty {
        path.push(field.responseKey)
        defer { path.pop() }
        if failed.contains(path.text) { return nil }
      }
      return .leaf(json)
    }
    path.push(field.responseKey)
    defer { path.pop() }
    return try value(json, selection)
  }

  private mutating func value(_ json: JSONValue, _ selection: BoundSelection) throws -> CacheValue? {
    guard path.parts.count < context.binder.configuration.limits.pathLength else {
      throw GraphQLStoreError(.tooDeep, "the data are nested too deeply at \(path.text)")
    }
    switch json {
    case .null: return !failed.isEmpty && failed.contains(path.text) ? nil : .leaf(.null)
    case .object(let object): return try self.object(object, selection)
    case .array(let elements):
      var values: [CacheValue] = []
      values.reserveCapacity(elements.count)
      for index in elements.indices {
        path.push(index)
        defer { path.pop() }
        guard let value = try value(elements[index], selection) else { continue }
        values.append(value)
      }
      // A list of which an element failed is not what the server meant to send.
      return values.count == elements.count ? .list(values) : nil
    case .bool, .int, .uint, .double, .string:
      throw unexpected("the document selects fields where the data have none")
    }
  }

  private mutating func object(_ object: JSONObject, _ selection: BoundSelection) throws -> CacheValue {
    var typename: String?
    if case .string(let name)? = object["__typename"] { typename = name }
    let typed = selection.fields(on: typename, data: object, context)
    let record = try record(object, typed)
    guard let key = Self.key(of: object, typed) else { return .object(record) }
    changes.append(.merge(key, record))
    return .reference(key)
  }

  private mutating func record(_ object: JSONObject, _ typed: TypedSelection) throws -> CacheRecord {
    var record = CacheRecord(reserving: typed.fields.count)
    for position in typed.storageOrder {
      let field = typed.fields[position]
      guard let json = object.value(named: field.responseKey, near: position),
        let value = try self.field(json, field)
      else { continue }
      if !record.append(field.field, value), let known = record[field.field] {
        record[field.field] = completed(known, value)
      }
    }
    return record
  }

  /// One value of which two aliases of a response show parts. Elements of its lists are the same ones, and an object
  /// that shows its key at one alias has it at the other too.
  private mutating func completed(_ one: CacheValue, _ other: CacheValue) -> CacheValue {
    switch (one, other) {
    case (.object(var all), .object(let more)):
      for (field, value) in more { all[field] = all[field].map { completed($0, value) } ?? value }
      return .object(all)
    case (.object(let record), .reference(let key)), (.reference(let key), .object(let record)):
      changes.append(.merge(key, record))
      return .reference(key)
    case (.list(let values), .list(let more)) where values.count == more.count:
      return .list(zip(values, more).map { completed($0, $1) })
    case (.leaf, _), (.reference, _), (.object, _), (.list, _): return other
    }
  }

  /// `Type:` and the key field's value, or a list of values in JSON when there are several.
  private static func key(of object: JSONObject, _ typed: TypedSelection) -> CacheKey? {
    guard let typename = typed.typename, let positions = typed.keyFields else { return nil }
    var values: [JSONValue] = []
    for position in positions {
      let value = object.value(named: typed.fields[position].responseKey, near: position)
      guard let value, !value.isNull else { return nil }
      if positions.count == 1 {
        switch value {
        case .string(let text): return CacheKey(typename + ":" + text)
        case .int(let number): return CacheKey(typename + ":" + String(number))
        case .null, .bool, .uint, .double, .array, .object: break
        }
      }
      values.append(ArgumentText.canonical(value))
    }
    let text = (positions.count == 1 ? values[0] : .array(values)).serialized()
    return CacheKey(typename + ":" + String(decoding: text, as: UTF8.self))
  }

  private func unexpected(_ what: String) -> GraphQLStoreError {
    GraphQLStoreError(.unexpectedData, path.parts.isEmpty ? what : "\(what), at \(path.text)")
  }
}
