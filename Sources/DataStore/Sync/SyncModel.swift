internal import MartletGraphQLClient
internal import MartletJSON
internal import MartletModels
internal import MartletStore
internal import MartletSyncEngine
internal import MartletVocabulary

/// A model as the server's documents name it.
struct SyncModel: Sendable {
  let name: String
  let shape: RecordShape
  /// `Posts`, as in `syncPosts`.
  private let plural: String
  /// What is selected of fields that are embedded types.
  private let embedded: [String: String]
  /// Columns that only the server writes.
  private let managed: Set<Int>
  /// The records that this store keeps.
  let predicate: Predicate

  init<M: Model>(_ type: M.Type, _ mapping: ModelMapping, _ predicate: Predicate) {
    name = mapping.name
    shape = mapping.shape
    plural = type.pluralModelName
    self.predicate = predicate
    var embedded: [String: String] = [:]
    for (key, selection) in type.nested where selection.kind == .embedded {
      embedded[key.stringValue] = selection.fields(0)
    }
    self.embedded = embedded
    let readOnly = Set(type.readOnly.map(\.stringValue))
    managed = Set(mapping.shape.columns.indices.filter { readOnly.contains(mapping.shape.columns[$0].name) })
  }

  private var typeName: String { ModelNames.capitalized(name) }

  /// All fields of a record and its stamps.
  var fields: String {
    let own = shape.columns.map { column in
      embedded[column.name].map { "\(column.name) { \($0) }" } ?? column.name
    }
    return (own + ["_version", "_deleted", "_lastChangedAt"]).joined(separator: " ")
  }

  // MARK: Documents

  var syncField: String { "sync" + ModelNames.capitalized(plural) }

  /// A page of a sync. Positions are asked of servers of this package only.
  func syncDocument(hasPositions: Bool) -> String {
    """
    query Sync\(typeName)($filter: Model\(typeName)FilterInput, $limit: Int, $nextToken: String, \
    $lastSync: AWSTimestamp) { \(syncField)(filter: $filter, limit: $limit, nextToken: $nextToken, \
    lastSync: $lastSync) { items { \(fields) } nextToken startedAt\(hasPositions ? " cursor isReplacement expected" : "") } }
    """
  }

  func mutationField(_ verb: String) -> String { verb + typeName }

  func mutationDocument(_ verb: String, hasCondition: Bool) -> String {
    let title = ModelNames.capitalized(verb)
    let declared = hasCondition ? ", $condition: Model\(typeName)ConditionInput" : ""
    return """
      mutation \(title)\(typeName)($input: \(title)\(typeName)Input!\(declared)) \
      { \(mutationField(verb))(input: $input\(hasCondition ? ", condition: $condition" : "")) { \(fields) } }
      """
  }

  func subscriptionField(_ kind: SubscriptionPlan.Kind) -> String { kind.rawValue + typeName }

  func subscriptionDocument(_ kind: SubscriptionPlan.Kind) -> String {
    let field = subscriptionField(kind)
    return "subscription \(ModelNames.capitalized(field)) { \(field) { \(fields) } }"
  }

  /// The predicate as a filter input; nil for all records.
  var filter: JSONValue? { predicate == .all ? nil : StoredCondition(shape).json(predicate) }

  /// The condition of a write to the record with a key as an input; nil for none. What it says of the key, which no
  /// condition of a server can name, is decided here: a record's key never changes.
  func condition(_ predicate: Predicate, of key: RecordKey) -> JSONValue? {
    var record = Record(values: shape.columns.map { _ in .null })
    for (field, value) in zip(shape.key, key.values) { record.values[field] = value }
    let rest = rest(of: predicate, record)
    return rest == .all ? nil : StoredCondition(shape).json(rest)
  }

  /// What is left of a predicate where the key's fields have these values.
  private func rest(of predicate: Predicate, _ record: Record) -> Predicate {
    switch predicate {
    case .all, .none: return predicate
    case .and(let parts):
      let rests = parts.map { rest(of: $0, record) }.filter { $0 != .all }
      return rests.contains(.none) ? .none : rests.isEmpty ? .all : .and(rests)
    case .or(let parts):
      let rests = parts.map { rest(of: $0, record) }.filter { $0 != .none }
      return rests.contains(.all) ? .all : rests.isEmpty ? .none : .or(rests)
    case .not(let part):
      switch rest(of: part, record) {
      case .all: return .none
      case .none: return .all
      case let rest: return .not(rest)
      }
    case .compare(let field, _):
      guard shape.key.contains(field) else { return predicate }
      return predicate.matches(record) ? .all : .none
    }
  }

  // MARK: Values

  /// The record in a response's object, whose members mostly have the order in which they were selected.
  func record(_ json: JSONValue) -> Record {
    let object = json.object ?? JSONObject()
    return record { object.value(named: $0, near: $1) }
  }

  private func record(_ value: (String, Int) -> JSONValue?) -> Record {
    Record(values: values(of: shape.columns.indices, value))
  }

  /// - Parameter value: the value of a member, which probably stands where the second argument says.
  private func values(of fields: some Sequence<Int>, _ value: (String, Int) -> JSONValue?) -> [JSONValue] {
    let columns = shape.columns
    return fields.map { columns[$0].storage.normalized(value(columns[$0].name, $0) ?? .null) }
  }

  /// The fields in an object, by position.
  func values(_ json: JSONObject) -> [Int: JSONValue] {
    var values: [Int: JSONValue] = [:]
    for (name, value) in json {
      guard let field = shape.columns.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) }) else { continue }
      values[field] = shape.columns[field].storage.normalized(value)
    }
    return values
  }

  func key(_ json: JSONValue) -> RecordKey {
    let object = json.object ?? JSONObject()
    return RecordKey(values: values(of: shape.key) { object.value(named: $0, near: $1) })
  }

  /// A record of a response, with its stamps. `position` orders it; nil takes the version.
  func change(_ json: JSONValue, number: Int, position: Int64?) -> RemoteChange {
    let object = json.object ?? JSONObject()
    return change(number, position) { object.value(named: $0, near: $1) }
  }

  /// The same of an object of a page, without a value for the object in between.
  func change(_ element: JSONTape.Element, number: Int, position: Int64?) -> RemoteChange {
    var members = JSONMembers(element)
    return change(number, position) { name, _ in members.value(named: name) }
  }

  private func change(
    _ number: Int, _ position: Int64?, _ value: (String, Int) -> JSONValue?
  ) -> RemoteChange {
    let record = record(value)
    let version = value("_version", shape.columns.count)?.int ?? 0
    let isDeleted = value("_deleted", shape.columns.count + 1)?.bool == true
    let isGone = isDeleted || predicate != .all && !predicate.matches(record)
    return RemoteChange(
      model: number, key: record.key(shape.key),
      image: ServerImage(record: isGone ? nil : record, version: version, position: position ?? version))
  }

  /// The record that comes with a conflict. One that is not deleted and that this store does not keep can be written
  /// to.
  func conflict(_ json: JSONValue, position: Int64?) -> ServerImage {
    var image = change(json, number: 0, position: position).image
    if image.record == nil, json["_deleted"]?.bool != true { image.hidden = record(json) }
    return image
  }

  /// Whether the server's record has all that a creation was sent with.
  func isMade(of sent: Record, _ record: Record) -> Bool {
    shape.columns.indices.allSatisfy { field in
      sent[field].isNull || managed.contains(field) || FieldValue.areSame(sent[field], record[field])
    }
  }

  /// The input of a write, what the fields it changes held, and the verb of its mutation.
  func input(
    _ write: PendingWrite, _ key: RecordKey, version: Int64
  ) -> (verb: String, input: JSONObject, replaced: JSONObject?) {
    var input = JSONObject(zip(shape.key, key.values).map { (key: shape.columns[$0].name, value: $1) })
    switch write.content {
    case .create(let record):
      if let over = write.over { return update(over.patches(to: record), input, version) }
      for (field, column) in shape.columns.enumerated() where !record[field].isNull && !managed.contains(field) {
        input[column.name] = record[field]
      }
      return ("create", input, nil)
    case .update(let patches): return update(patches, input, version)
    case .delete:
      input["_version"] = .int(version)
      return ("delete", input, nil)
    }
  }

  private func update(
    _ patches: [FieldPatch], _ key: JSONObject, _ version: Int64
  ) -> (verb: String, input: JSONObject, replaced: JSONObject?) {
    var (input, replaced) = (key, JSONObject())
    for patch in patches where shape.columns.indices.contains(patch.field) && !managed.contains(patch.field) {
      input[shape.columns[patch.field].name] = patch.new
      replaced[shape.columns[patch.field].name] = patch.old
    }
    input["_version"] = .int(version)
    return ("update", input, replaced)
  }
}
