internal import MartletJSON
internal import MartletLiveQueries
internal import MartletModels
internal import MartletSyncEngine

/// What a `StoreDriver` keeps in place of a disk: records with their pending writes, and how far the sync is.
struct DrivenStore: Sendable {
  struct Name: Hashable, Sendable {
    var model: Int
    var key: RecordKey
  }

  /// How a local write changed the outbox.
  enum Outbox {
    case added(Int64)
    case removed([Int64])
    case unchanged
  }

  let models: [ModelDefinition]
  private var replicas: [Name: RecordReplica] = [:]
  private var outbox: [(number: Int64, name: Name)] = []
  private var progress: [ModelProgress]
  private(set) var cursor: String?
  private var nextNumber: Int64 = 1
  var refused: [Refused] = []
  /// Rows that the pages of a full sync had.
  private var seen: [Int: Set<RecordKey>] = [:]
  /// The rows that the present step has touched, as they were before it.
  private var before: [(name: Name, row: LiveRow?)] = []

  init(models: [ModelDefinition]) {
    self.models = models
    progress = models.map { _ in ModelProgress() }
  }

  func makeEngine() -> SyncEngine {
    SyncEngine(
      SyncConfiguration(models: models.map { _ in .init() }), progress: progress,
      pending: outbox.map { ($0.number, $0.name.model) }, seed: 1)
  }

  // MARK: Steps

  mutating func begin() { before = [] }

  /// What the present step did to the rows.
  func changes() -> [RowChange] {
    before.compactMap { name, row in
      let after = self.row(name)
      return row == after ? nil : RowChange(model: name.model, before: row, after: after)
    }
  }

  private func row(_ name: Name) -> LiveRow? {
    guard let replica = replicas[name], let record = replica.visible else { return nil }
    return LiveRow(
      key: name.key, record: record, version: replica.server?.version ?? 0, isPending: !replica.pending.isEmpty)
  }

  private mutating func change<Value, Failure: Error>(
    _ name: Name, _ body: (inout RecordReplica) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    if !before.contains(where: { $0.name == name }) { before.append((name, row(name))) }
    return try body(&replicas[name, default: RecordReplica()])
  }

  // MARK: Local writes

  mutating func takeNumber() -> Int64 {
    defer { nextNumber += 1 }
    return nextNumber
  }

  mutating func write(
    _ model: Int, _ key: RecordKey,
    _ body: (inout RecordReplica, Int64) throws(RecordReplica.WriteError) -> RecordReplica.Enqueued?
  ) throws(RecordReplica.WriteError) -> Outbox {
    let (name, number) = (Name(model: model, key: key), nextNumber)
    let enqueued = try change(name) { replica throws(RecordReplica.WriteError) in try body(&replica, number) }
    switch enqueued {
    case nil, .merged?: return .unchanged
    case .added?:
      nextNumber += 1
      outbox.append((number, name))
      return .added(number)
    case .cancelled(let numbers)?:
      outbox.removeAll { numbers.contains($0.number) }
      return .removed(numbers)
    }
  }

  // MARK: The engine's actions

  mutating func perform(_ action: SyncAction) {
    switch action {
    case .beginFullSync(let model): seen[model] = []
    case .applyPage(let model, let changes):
      seen[model, default: []].formUnion(changes.map(\.key))
      receive(changes)
    case .apply(let changes, let cursor):
      receive(changes)
      self.cursor = cursor ?? self.cursor
    case .finishModel(let model, let progress, let sweepBefore):
      self.progress[model] = progress
      guard let sweepBefore else { return }
      let names = replicas.keys.filter { $0.model == model && seen[model]?.contains($0.key) != true }
      for name in names {
        change(name) { replica in
          _ = replica.sweep(at: sweepBefore == .max ? replica.server?.position ?? 0 : sweepBefore)
        }
      }
    case .acknowledge(let number, let image):
      guard let name = name(of: number) else { return }
      change(name) { $0.acknowledge(number, image) }
      // Its record may be younger than the pages that are being read.
      seen[name.model]?.insert(name.key)
      outbox.removeAll { $0.number == number }
    case .clearStore:
      for name in replicas.keys { change(name) { $0 = RecordReplica() } }
      (outbox, refused) = ([], [])
      forgetProgress()
    case .subscribe, .disconnect, .query, .upload, .reject, .abandon, .askConflict, .resolve, .refreshCredentials,
      .wake, .progress, .hub:
      break
    }
  }

  /// The caller may see none of the server's records.
  mutating func withdraw() {
    for name in replicas.keys { change(name) { _ = $0.sweep(at: $0.server?.position ?? 0) } }
    forgetProgress()
  }

  /// Every model is owed a full sync.
  mutating func forgetProgress() {
    cursor = nil
    progress = models.map { _ in ModelProgress() }
  }

  private mutating func receive(_ changes: [RemoteChange]) {
    for change in changes {
      _ = self.change(Name(model: change.model, key: change.key)) { $0.receive(change) }
    }
  }

  /// Marks a write as sent, and says what is sent; nil for one that is no longer there.
  mutating func send(_ number: Int64) -> JSONObject? {
    guard let name = name(of: number), let write = write(number, name) else { return nil }
    change(name) { $0.send(number) }
    return json(write, name)
  }

  /// The writes that wait for the server, in the order in which they are sent.
  var waiting: [JSONObject] {
    outbox.compactMap { number, name in
      guard let write = write(number, name) else { return nil }
      var object = json(write, name)
      object["isSent"] = .bool(write.isSent)
      return object
    }
  }

  func json(_ write: PendingWrite, _ name: Name) -> JSONObject {
    let model = models[name.model]
    var fields: JSONValue = .null
    let verb: String
    switch write.content {
    case .create(let record): (verb, fields) = ("create", json(record, name.model))
    case .delete: verb = "delete"
    case .update(let patches):
      verb = "update"
      fields = .object(JSONObject(patches.map { (key: model.fields[$0.field].name, value: $0.new) }))
    }
    let key = zip(model.primaryKey, name.key.values).map { (key: model.fields[$0].name, value: $1) }
    return [
      "write": .int(write.number), "model": .string(model.name), "key": .object(JSONObject(key)),
      "verb": .string(verb), "fields": fields, "isConditional": .bool(write.condition != nil),
    ]
  }

  /// Moves a refused write out. Returns the writes that were refused with it.
  mutating func reject(_ number: Int64, _ reason: DeadLetter.Reason) -> [Int64] {
    guard let name = name(of: number) else { return [] }
    let letters = change(name) { $0.reject(number, reason) }
    refused += letters.map { Refused(name: name, letter: $0) }
    let numbers = letters.map(\.write.number)
    outbox.removeAll { numbers.contains($0.number) || $0.number == number }
    return numbers.filter { $0 != number }
  }

  /// Carries out the answer to a conflict. Returns whether the write is made again, and the writes that are refused.
  mutating func resolve(
    _ number: Int64, _ resolution: RecordReplica.Resolution, _ image: ServerImage, _ newNumber: Int64
  ) -> (isRetried: Bool, refused: [Int64]) {
    guard let name = name(of: number) else { return (false, []) }
    let letters = change(name) { $0.resolve(number, resolution, image, newNumber: newNumber) }
    self.refused += letters.map { Refused(name: name, letter: $0) }
    let refused = letters.map(\.write.number)
    outbox.removeAll { refused.contains($0.number) && $0.number != number }
    let isRetried = write(newNumber, name) != nil
    if let place = outbox.firstIndex(where: { $0.number == number }) {
      if isRetried { outbox[place].number = newNumber } else { outbox.remove(at: place) }
    }
    return (isRetried, refused)
  }

  // MARK: Reading

  private func name(of number: Int64) -> Name? { outbox.first { $0.number == number }?.name }

  func model(of number: Int64) -> Int? { name(of: number)?.model }

  private func write(_ number: Int64, _ name: Name) -> PendingWrite? {
    replicas[name]?.pending.first { $0.number == number }
  }

  /// The record as the server has it after a write, where it has taken that as it was sent.
  func accepted(_ number: Int64, version: Int64?, position: Int64?) -> ServerImage? {
    guard let name = name(of: number), let replica = replicas[name] else { return nil }
    let next = version ?? (replica.server?.version ?? 0) + 1
    let writes = replica.pending.filter { $0.number == number }
    return ServerImage(
      record: RecordReplica(server: replica.server, pending: writes).visible, version: next,
      position: position ?? max(next, (replica.server?.position ?? 0) + 1))
  }

  func visible(_ number: Int64) -> JSONValue {
    guard let name = name(of: number) else { return .null }
    return json(row(name)?.record, of: number)
  }

  func json(_ record: Record?, of number: Int64) -> JSONValue {
    guard let record, let model = model(of: number) else { return .null }
    return json(record, model)
  }

  /// A record without the fields that have no value.
  func json(_ record: Record, _ model: Int) -> JSONValue {
    .object(
      JSONObject(
        models[model].fields.enumerated().compactMap { field, definition in
          record[field].isNull ? nil : (key: definition.name, value: record[field])
        }))
  }

  func rows(_ query: WindowQuery, _ request: WindowRequest) -> WindowRows {
    let rows = replicas.keys.filter { $0.model == query.model }.compactMap { row($0) }
      .filter { query.predicate.matches($0.record) }
      .sorted { query.order.compare($0.record, $1.record) < 0 }
    switch request {
    case .page(let offset, let count):
      let first = min(offset, rows.count)
      return WindowRows(Array(rows[first...].prefix(count ?? .max)), skipped: first)
    case .after(let row, let count):
      return WindowRows(Array(rows.filter { query.order.compare($0.record, row.record) > 0 }.prefix(count)))
    case .before(let row, let count):
      return WindowRows(Array(rows.filter { query.order.compare($0.record, row.record) < 0 }.suffix(count)))
    }
  }
}
