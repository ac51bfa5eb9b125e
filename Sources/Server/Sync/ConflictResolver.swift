internal import MartletChangeFeed
internal import MartletJSON
internal import MartletModelSDL
internal import MartletModels
internal import MartletStore
internal import MartletVocabulary

/// What the caller of an update or a deletion knew of the stored record.
struct WriteBase: Sendable {
  /// The version that it wrote on; nil when it gave none.
  var version: Int64?
  /// What the fields that it writes held, by their names: a client that sends these wants each field judged by itself.
  var replaced: JSONObject?
  var strategy: ConflictStrategy
  var handler: ConflictHandler?
  /// When the write came, an AWSDateTime: what a handler's answer is stamped with.
  var now: String
}

/// A write as the conflict's strategy leaves it.
enum SettledWrite {
  case update(RecordUpdate)
  case delete(model: Int, RecordKey, condition: Predicate)

  func perform(_ transaction: WriteTransaction) throws(StoreError) {
    switch self {
    case .update(let update): try transaction.update(update)
    case .delete(let model, let key, let condition): try transaction.delete(model, key, condition: condition)
    }
  }
}

/// Finds out whether a write meets the record it was made for, and settles it by the model's strategy if not.
///
/// Runs inside the write's transaction.
struct ConflictResolver {
  let planned: PlannedWrite

  init(_ planned: PlannedWrite) { self.planned = planned }

  private var model: ModelDefinition { planned.model }

  /// An update as it is to be made.
  func settle(_ update: RecordUpdate, _ transaction: WriteTransaction) throws(StoreError) -> SettledWrite {
    guard let base = planned.base else { return .update(update) }
    let stored = try existing(transaction)
    // The caller may know the version and not have made the write on it: its fields say what it was made on.
    guard let stored, base.replaced != nil || base.version != stored.version else { return .update(update) }
    // What the server manages is not the caller's to be in conflict about.
    let foreign = update.values.filter { field, _ in planned.given.contains(field) && !isAsReplaced(field, stored, base)
    }
    let completed = completed(update, stored, base)
    if foreign.isEmpty { return .update(completed) }
    switch base.strategy {
    case .optimisticConcurrency: throw conflict(stored.version)
    case .automerge:
      var merged = completed
      for (place, entry) in update.values.enumerated() where foreign.contains(where: { $0.field == entry.field }) {
        merged.values[place].value = FieldMerge.merged(
          stored: stored.record[entry.field], incoming: entry.value,
          replaced: base.replaced?[model.fields[entry.field].name])
      }
      return .update(merged)
    case .lambda:
      var item = stored.record
      for (field, value) in completed.values { item.values[field] = value }
      return try ask(stored, item, base, condition: update.condition)
    }
  }

  /// A deletion as it is to be made.
  func settleDeletion(_ condition: Predicate, _ transaction: WriteTransaction) throws(StoreError) -> SettledWrite {
    let asked = SettledWrite.delete(model: model.number, planned.key, condition: condition)
    guard let base = planned.base else { return asked }
    let stored = try existing(transaction)
    guard let stored, let version = base.version, version != stored.version else { return asked }
    guard base.strategy == .lambda else { throw conflict(stored.version) }
    return try ask(stored, nil, base, condition: condition)
  }

  /// Whether a field holds what the caller replaces; for one of which it does not say that, whether the record is the
  /// version that it wrote on.
  private func isAsReplaced(_ field: Int, _ stored: StoredRecord, _ base: WriteBase) -> Bool {
    guard let value = base.replaced?[model.fields[field].name] else { return base.version == stored.version }
    return FieldValue.holds(stored.record[field], value)
  }

  /// The update without loss of what the caller does not have: members of embedded values that its own type lacks.
  private func completed(_ update: RecordUpdate, _ stored: StoredRecord, _ base: WriteBase) -> RecordUpdate {
    var update = update
    for (place, entry) in update.values.enumerated() {
      guard let known = base.replaced?[model.fields[entry.field].name] else { continue }
      update.values[place].value = FieldValue.written(entry.value, over: stored.record[entry.field], knowing: known)
    }
    return update
  }

  /// The stored record; nil for one that never existed. A deleted one is a conflict.
  private func existing(_ transaction: WriteTransaction) throws(StoreError) -> StoredRecord? {
    if let stored = try transaction.get(model.number, planned.key) { return stored }
    guard let tombstone = try transaction.tombstone(model.number, planned.key),
      planned.answer.map({ $0.view(of: tombstone.image, for: .get) != nil }) ?? true
    else { return nil }
    throw StoreError(
      .versionMismatch, "the \(model.name) was deleted",
      StoreError.Conflict(model: model.number, key: planned.key, version: tombstone.version))
  }

  private func conflict(_ version: Int64) -> StoreError {
    StoreError(
      .versionMismatch, "the \(model.name) was changed and has version \(version)",
      StoreError.Conflict(model: model.number, key: planned.key, version: version))
  }

  private func ask(
    _ stored: StoredRecord, _ item: Record?, _ base: WriteBase, condition: Predicate
  ) throws(StoreError) -> SettledWrite {
    guard let handler = base.handler else { throw conflict(stored.version) }
    let question = WriteConflict(
      modelName: model.name, fieldName: planned.name, existingItem: model.item(stored.record, stored.version),
      newItem: item.map { model.item($0, base.version ?? stored.version) }, expectedVersion: base.version)
    do {
      switch try handler.resolve(question) {
      case .reject: throw conflict(stored.version)
      case .remove: return .delete(model: model.number, planned.key, condition: condition)
      case .resolve(var fields):
        // The time stamp is the one of the write, not the stored one that the handler was shown.
        if let field = model.updatedAt { fields[model.fields[field].name] = nil }
        let values = try InputReader(model).changes(fields, now: base.now)
        return .update(RecordUpdate(model: model.number, key: planned.key, values: values, condition: condition))
      }
    } catch let error as StoreError {
      throw error
    } catch {
      throw StoreError(.aborted, "\(error)")
    }
  }
}

extension ModelDefinition {
  /// A record as an object, with its version.
  fileprivate func item(_ record: Record, _ version: Int64) -> JSONObject {
    var item = JSONObject(fields.enumerated().map { (key: $1.name, value: record[$0]) })
    item[RecordStamp.version.fieldName] = .int(version)
    return item
  }
}

extension ModelResolvers {
  /// What the caller of a write knew of the stored record; nil when it says nothing, or the model has no versions.
  func base(of model: ModelDefinition, _ input: JSONObject, _ now: String, _ scope: RequestScope?) -> WriteBase? {
    guard let strategy = model.conflicts else { return nil }
    let version = input[RecordStamp.version.fieldName]?.int
    guard version != nil || scope?.replaced != nil else { return nil }
    return WriteBase(
      version: version, replaced: scope?.replaced, strategy: strategy, handler: conflictHandlers[model.name], now: now)
  }
}
