internal import MartletJSON
internal import MartletLiveQueries
internal import MartletModels
internal import MartletSyncEngine

/// Reads the members of one step of a `StoreDriver`.
struct StoreStepReader {
  let step: JSONValue
  let models: [ModelDefinition]

  // MARK: Members

  func type() throws(StoreDriverError) -> String { try text("type") }

  /// Whether the step says nothing of a record, not even that it is not shown.
  var hasNoRecord: Bool { step["record"] == nil && step["key"] == nil }

  func text(_ name: String) throws(StoreDriverError) -> String {
    guard let text = step[name]?.string else { throw StoreDriverError("a step has no text \(name): \(step)") }
    return text
  }

  func number(_ name: String) throws(StoreDriverError) -> Int64 { try Self.number(name, in: step) }

  private static func number(_ name: String, in json: JSONValue) throws(StoreDriverError) -> Int64 {
    guard let number = json[name]?.int else { throw StoreDriverError("there is no whole number \(name): \(json)") }
    return number
  }

  func seconds(_ name: String) throws(StoreDriverError) -> Duration {
    guard let seconds = step[name]?.double, seconds >= 0, seconds < 1e9 else {
      throw StoreDriverError("\(name) is not a number of seconds: \(step)")
    }
    return .nanoseconds(Int64(seconds * 1e9))
  }

  private func model(_ json: JSONValue) throws(StoreDriverError) -> Int {
    let name = json["model"]?.string ?? step["model"]?.string ?? (models.count == 1 ? models[0].name : "")
    guard let number = models.firstIndex(where: { $0.name.hasSameBytes(as: name) }) else {
      throw StoreDriverError("there is no model '\(name)': \(step)")
    }
    return number
  }

  private func record(_ json: JSONValue, _ model: Int) -> Record {
    Record(values: models[model].fields.map { json[$0.name] ?? .null })
  }

  private func key(_ json: JSONValue, _ model: Int) throws(StoreDriverError) -> RecordKey {
    let definition = models[model]
    // A key of one field may be its value alone.
    if definition.primaryKey.count == 1, json.object == nil, !json.isNull { return RecordKey(json) }
    let values = definition.primaryKey.map { json[definition.fields[$0].name] ?? .null }
    guard !values.contains(where: \.isNull) else {
      throw StoreDriverError("the key of \(definition.name) is not complete: \(step)")
    }
    return RecordKey(values: values)
  }

  // MARK: The application

  /// The record that is saved or deleted.
  func written() throws(StoreDriverError) -> (model: Int, key: RecordKey, record: Record) {
    let model = try model(step)
    let json = step["record"] ?? step["key"] ?? .null
    return (model, try key(json, model), record(json, model))
  }

  /// The writes of a transaction.
  func writes() throws(StoreDriverError) -> [StoreStepReader] {
    var found: [StoreStepReader] = []
    for json in step["writes"]?.array ?? [] {
      let reader = StoreStepReader(step: json, models: models)
      guard ["save", "update", "delete"].contains(try reader.type()) else {
        throw StoreDriverError("a transaction has no such write: \(json)")
      }
      found.append(reader)
    }
    return found
  }

  /// The fields that are updated, by position.
  func fields() throws(StoreDriverError) -> [(Int, JSONValue)] {
    let definition = models[try model(step)]
    var found: [(Int, JSONValue)] = []
    for (name, value) in step["fields"]?.object ?? JSONObject() {
      guard let field = definition.fields.firstIndex(where: { $0.name.hasSameBytes(as: name) }),
        !definition.primaryKey.contains(field)
      else { throw StoreDriverError("\(name) is not a field of \(definition.name) that can change: \(step)") }
      found.append((field, value))
    }
    return found
  }

  /// The condition of a write; nil without `where`.
  func condition() throws(StoreDriverError) -> Predicate? {
    step["where"] == nil ? nil : try predicate(try model(step))
  }

  private func predicate(_ model: Int) throws(StoreDriverError) -> Predicate {
    var reader = FilterReader(models[model])
    do throws(FilterError) {
      return try reader.read(step["where"], path: "where")
    } catch {
      throw StoreDriverError("\(error)")
    }
  }

  func query() throws(StoreDriverError) -> WindowQuery {
    let model = try model(step)
    let predicate = try predicate(model)
    var sort: [SortOrder] = []
    for name in step["sort"]?.array ?? [] {
      let text = name.string ?? ""
      let field = text.hasPrefix("-") ? String(text.dropFirst()) : text
      guard let position = models[model].fields.firstIndex(where: { $0.name.hasSameBytes(as: field) }) else {
        throw StoreDriverError("\(models[model].name) has no field '\(field)' to sort by")
      }
      sort.append(SortOrder(field: position, isAscending: !text.hasPrefix("-")))
    }
    let moments = Set(models[model].fields.indices.filter { models[model].fields[$0].isMoment })
    return WindowQuery(
      model: model, predicate: predicate,
      order: RowOrder(sort, primaryKey: models[model].primaryKey, momentFields: moments),
      offset: try count("offset") ?? 0, limit: try count("limit"))
  }

  /// A member that counts records; nil without it.
  private func count(_ name: String) throws(StoreDriverError) -> Int? {
    guard let json = step[name], !json.isNull else { return nil }
    guard let number = json.int, number >= 0 else {
      throw StoreDriverError("'\(name)' is not a number of records: \(step)")
    }
    return Int(clamping: number)
  }

  func resolution(_ model: Int) throws(StoreDriverError) -> RecordReplica.Resolution {
    switch step["with"] {
    case .string("remote"): return .applyRemote
    case .string("local"): return .retryLocal
    case .some(let json) where json.object != nil: return .retry(record(json, model))
    case _: throw StoreDriverError("'with' is none of remote, local and a record: \(step)")
    }
  }

  // MARK: The server

  private func change(_ json: JSONValue) throws(StoreDriverError) -> RemoteChange {
    let model = try model(json)
    let record = json["record"]
    let version = try Self.number("version", in: json)
    return RemoteChange(
      model: model, key: try key(record ?? json["key"] ?? .null, model),
      image: ServerImage(
        record: record.map { self.record($0, model) }, version: version, position: json["position"]?.int ?? version))
  }

  private func changes() throws(StoreDriverError) -> [RemoteChange] {
    var found: [RemoteChange] = []
    for json in step["changes"]?.array ?? [] { found.append(try change(json)) }
    return found
  }

  /// What the server says.
  func event(_ type: String, _ generation: Int) throws(StoreDriverError) -> SyncEvent {
    switch type {
    case "subscribed":
      return .subscribed(
        generation: generation, resumed: step["resumed"]?.bool ?? false, cursor: step["cursor"]?.string)
    case "page":
      let changes = try changes()
      // Without any position the server has none, and what the pages do not have is gone.
      let hasPositions = (step["changes"]?.array ?? []).contains { $0["position"]?.int != nil }
      let newest = hasPositions ? changes.map(\.image.position).max() ?? .max : .max
      let page = SyncPage(
        changes: changes, nextToken: step["nextToken"]?.string, startedAt: step["startedAt"]?.int ?? 0,
        position: step["position"]?.int ?? newest, cursor: step["cursor"]?.string,
        isFull: step["isFull"]?.bool ?? false)
      return .page(generation: generation, model: try model(step), page)
    case "changes":
      let changes = try changes()
      return .feed(
        generation: generation, changes, cursor: step["cursor"]?.string,
        position: changes.map(\.image.position).max() ?? 0)
    case "reset": return .feedReset(generation: generation, reason: "reset")
    case "lost":
      return .disconnected(generation: generation, step["reason"] == nil ? .network : try failure())
    case "failPage": return .queryFailed(generation: generation, model: try model(step), try failure())
    case "ack":
      let isShown = step["record"] != .null || step["key"] != nil
      let image = isShown ? try change(step).image : nil
      return .uploaded(
        generation: generation, number: try number("write"), image, position: step["position"]?.int ?? 0)
    case "refuse": return .uploadFailed(generation: generation, number: try number("write"), refusal)
    case "conflict":
      return .uploadFailed(
        generation: generation, number: try number("write"), .conflict(try change(step).image))
    case "fail": return .uploadFailed(generation: generation, number: try number("write"), try failure())
    case _: throw StoreDriverError("there is no step '\(type)'")
    }
  }

  private var refusal: SyncFailure {
    .refused(code: step["code"]?.string ?? "REFUSED", message: step["message"]?.string ?? "")
  }

  private func failure() throws(StoreDriverError) -> SyncFailure {
    switch try text("reason") {
    case "network": return .network
    case "overloaded":
      return .overloaded(retryAfter: step["retryAfter"] == nil ? nil : try seconds("retryAfter"))
    case "unauthorized": return .forbidden
    case "credentials": return .unauthorized
    case "condition": return .conditionFailed
    case "refused": return refusal
    case "fault": return .faulted(code: "INTERNAL", message: step["message"]?.string ?? "")
    case let reason: throw StoreDriverError("'\(reason)' is not a reason of a failure")
    }
  }
}
