internal import MartletJSON

/// Puts a result together from records.
struct ResultReader {
  private let context: BindingContext
  private let view: StoreView
  /// Whether what is missing is left out; otherwise it ends the reading.
  private let allowsPartial: Bool
  /// Whether fields that only the store asked for are in the result.
  private let includesHidden: Bool
  /// Whether the records that are looked at are noted down.
  private let notesDependencies: Bool
  private(set) var dependencies = Dependencies()
  private(set) var missing: [String] = []
  /// Records looked at.
  private(set) var records = 0
  private var path = ResponsePath()

  init(
    _ operation: BoundOperation, _ binder: Binder, view: StoreView, allowsPartial: Bool, includesHidden: Bool = false,
    notesDependencies: Bool = false
  ) {
    context = BindingContext(operation: operation, binder: binder)
    self.view = view
    self.allowsPartial = allowsPartial
    self.includesHidden = includesHidden
    self.notesDependencies = notesDependencies
  }

  /// The data of an operation; nil when something is missing and partial data are not allowed, or nothing is there.
  mutating func operation() throws -> JSONValue? {
    let selection = context.operation.selection.fields(on: nil, data: nil, context)
    var members: [JSONObject.Element] = []
    members.reserveCapacity(selection.fields.count)
    for field in selection.fields where !field.isHidden || includesHidden {
      path.push(field.responseKey)
      defer { path.pop() }
      guard let key = field.rootKey else { return nil }
      let found = try record(key, nil)?[field.field]
      guard let value = try found.flatMap({ try value($0, field.selection) }) ?? lacking(found == nil) else {
        if allowsPartial { continue }
        return nil
      }
      members.append((field.responseKey, value))
    }
    return members.isEmpty && !missing.isEmpty ? nil : .object(JSONObject(distinct: members))
  }

  /// The data of a fragment on the record `key`.
  mutating func fragment(on key: CacheKey) throws -> JSONValue? {
    try value(.reference(key), context.operation.selection)
  }

  private mutating func record(_ key: CacheKey, _ selection: BoundSelection?) throws -> CacheRecord? {
    records += 1
    let record = try view.record(key)
    if notesDependencies {
      dependencies.add(
        key, record.flatMap { record in selection?.fields(on: record.typename, data: nil, context) })
    }
    return record
  }

  private mutating func value(_ value: CacheValue, _ selection: BoundSelection?) throws -> JSONValue? {
    guard path.parts.count < context.binder.configuration.limits.pathLength else {
      throw GraphQLStoreError(.tooDeep, "the document selects too deeply at \(path.text)")
    }
    guard let selection else {
      if case .leaf(let json) = value { return json }
      return lacking(true)
    }
    switch value {
    case .leaf(.null): return .null
    case .leaf: return lacking(true)
    case .object(let record): return try object(record, selection)
    case .reference(let key):
      guard let record = try record(key, selection) else { return lacking(true) }
      return try object(record, selection)
    case .list(let values):
      var elements: [JSONValue] = []
      elements.reserveCapacity(values.count)
      for index in values.indices {
        path.push(index)
        defer { path.pop() }
        if let element = try self.value(values[index], selection) {
          elements.append(element)
        } else if allowsPartial {
          elements.append(.null)
        } else {
          return nil
        }
      }
      return .array(elements)
    }
  }

  private mutating func object(_ record: CacheRecord, _ selection: BoundSelection) throws -> JSONValue? {
    let typed = selection.fields(on: record.typename, data: nil, context)
    var members: [JSONObject.Element] = []
    members.reserveCapacity(typed.fields.count)
    for field in typed.fields where !field.isHidden || includesHidden {
      guard let found = record[field.field] else {
        path.push(field.responseKey)
        _ = lacking(true)
        path.pop()
        if allowsPartial { continue }
        return nil
      }
      if field.selection == nil, case .leaf(let json) = found {
        members.append((field.responseKey, json))
        continue
      }
      path.push(field.responseKey)
      defer { path.pop() }
      if let value = try value(found, field.selection) {
        members.append((field.responseKey, value))
      } else if !allowsPartial {
        return nil
      }
    }
    return .object(JSONObject(distinct: members))
  }

  /// Notes that something is missing here; always nil.
  private mutating func lacking(_ isNew: Bool) -> JSONValue? {
    if isNew, missing.count < max(1, context.binder.configuration.limits.reportedMissingFields) {
      missing.append(path.text)
    }
    return nil
  }
}
