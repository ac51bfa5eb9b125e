internal import MartletJSON
package import MartletModels
internal import MartletSQLite
package import MartletSyncEngine

/// Refused writes, and what a full sync has seen.
extension ClientTables {
  // MARK: Dead letters

  func keep(_ letter: DeadLetter, _ shape: RecordShape, _ key: RecordKey, at time: Int64) throws {
    let statement = try database.statement(
      """
      INSERT OR REPLACE INTO martlet_client_letters(number, model, key, content, condition, reason, at)
      VALUES(?, ?, ?, ?, ?, ?, ?)
      """)
    try statement.bind(1, letter.write.number)
    try statement.bind(2, text: shape.tableName)
    try statement.bind(3, text: key.text)
    try statement.bind(4, utf8: json(letter.write.content, shape).serialized())
    if let condition = letter.write.condition {
      try statement.bind(5, utf8: StoredCondition(shape).json(condition).serialized())
    } else {
      try statement.bind(5)
    }
    try statement.bind(6, utf8: letter.reason.json.serialized())
    try statement.bind(7, time)
    try statement.run()
  }

  /// The refused writes in order; those of models that are no longer there are left out.
  func letters(_ records: Records) throws -> [StoredLetter] {
    let statement = try database.statement(
      "SELECT number, model, key, content, condition, reason, at FROM martlet_client_letters ORDER BY number")
    defer { statement.reset() }
    var found: [StoredLetter] = []
    while try statement.step() {
      let name = statement.text(1)
      guard let shape = records.tables.first(where: { $0.shape.tableName.utf8.elementsEqual(name.utf8) })?.shape else {
        continue
      }
      let write = PendingWrite(
        number: statement.int64(0), content: try content(JSONValue(held: statement.bytes(3)), shape),
        condition: try statement.isNull(4)
          ? nil : StoredCondition(shape).predicate(JSONValue(held: statement.bytes(4))))
      let key = RecordKey(values: try JSONValue(held: statement.bytes(2)).array ?? [])
      found.append(
        StoredLetter(
          letter: DeadLetter(write: write, reason: .init(try JSONValue(held: statement.bytes(5)))),
          model: shape.model, key: key, time: statement.int64(6)))
    }
    return found
  }

  func removeLetter(_ number: Int64) throws {
    let statement = try database.statement("DELETE FROM martlet_client_letters WHERE number = ?")
    try statement.bind(1, number)
    try statement.run()
  }

  // MARK: Pending writes

  func place(of number: Int64) throws -> (table: String, key: RecordKey)? {
    let statement = try database.statement("SELECT model, key FROM martlet_client_outbox WHERE number = ?")
    try statement.bind(1, number)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return (statement.text(0), RecordKey(values: try JSONValue(held: statement.bytes(1)).array ?? []))
  }

  func firstPending() throws -> Int64? {
    let statement = try database.statement("SELECT number FROM martlet_client_outbox ORDER BY number LIMIT 1")
    defer { statement.reset() }
    return try statement.step() ? statement.int64(0) : nil
  }

  /// The pending write that has been sent; nil when none has.
  func sentWrite() throws -> Int64? {
    let statement = try database.statement(
      "SELECT number FROM martlet_client_outbox WHERE is_sent != 0 ORDER BY number DESC LIMIT 1")
    defer { statement.reset() }
    return try statement.step() ? statement.int64(0) : nil
  }

  /// Whether a write waits or an image is kept of a record that no row shows. Such a record was deleted here, so that a
  /// deletion waits, or by the server, so that its image is kept.
  func mayHide() throws -> Bool {
    let statement = try database.statement(
      """
      SELECT EXISTS(SELECT 1 FROM martlet_client_images)
        OR EXISTS(SELECT 1 FROM martlet_client_outbox WHERE content = '{"delete":true}')
      """)
    defer { statement.reset() }
    return try statement.step() && statement.int64(0) != 0
  }

  func pendingCount() throws -> Int {
    let statement = try database.statement("SELECT count(*) FROM martlet_client_outbox")
    defer { statement.reset() }
    return try statement.step() ? Int(statement.int64(0)) : 0
  }

  // MARK: Progress

  /// The name of the value that says how far a model has been synced.
  static func progressName(_ shape: RecordShape) -> String { progressName(ofTable: shape.tableName) }

  private static func progressName(ofTable table: String) -> String { "sync." + table }

  /// The named values that are about a table.
  static func names(ofTable table: String) -> [String] { [progressName(ofTable: table), seen(ofTable: table)] }

  /// The rows of a model lack fields that the server may have: a full sync is owed, and its images are taken although
  /// nothing was written since. Rows that no server has given stay as they are: by their place in the log, which is
  /// none, they are found and created at the first server that the store gets.
  func oweFields(_ shape: RecordShape) throws {
    let progress = try database.statement("DELETE FROM martlet_client WHERE name = ?")
    try progress.bind(1, text: Self.progressName(shape))
    try progress.run()
    let changed = SQLText.changed
    try database.execute("UPDATE \(shape.table) SET \(changed) = \(changed) - 1 WHERE \(changed) > 0")
    let images = try database.statement("UPDATE martlet_client_images SET position = position - 1 WHERE model = ?")
    try images.bind(1, text: shape.tableName)
    try images.run()
  }

  // MARK: Full syncs

  func forgetSeen(_ shape: RecordShape) throws {
    let statement = try database.statement("DELETE FROM martlet_client_seen WHERE model = ?")
    try statement.bind(1, text: shape.tableName)
    try statement.run()
  }

  func see(_ shape: RecordShape, _ keys: some Sequence<RecordKey>) throws {
    guard try notesSeen(shape) else { return }
    let keys = Array(keys)
    // Several by one statement, as of the outbox's writes.
    for first in stride(from: 0, to: keys.count, by: Self.writesAtOnce) {
      let part = keys[first..<min(first + Self.writesAtOnce, keys.count)]
      let rows = repeatElement("(?1, ?)", count: part.count).joined(separator: ", ")
      let statement = try database.statement("INSERT OR IGNORE INTO martlet_client_seen(model, key) VALUES\(rows)")
      try statement.bind(1, text: shape.tableName)
      for (index, key) in part.enumerated() { try statement.bind(index + 2, text: key.text) }
      try statement.run()
    }
  }

  /// Whether the rows of the full sync's pages are noted.
  func notesSeen(_ shape: RecordShape) throws -> Bool { try value(Self.seen(shape)) == nil }

  func noteSeen(_ shape: RecordShape, _ notes: Bool) throws {
    if notes { try remove(Self.seen(shape)) } else { try set(Self.seen(shape), "no") }
  }

  private static func seen(_ shape: RecordShape) -> String { seen(ofTable: shape.tableName) }

  private static func seen(ofTable table: String) -> String { "seen \(table)" }

  func hasSeen(_ shape: RecordShape, _ key: RecordKey) throws -> Bool {
    let statement = try database.statement("SELECT 1 FROM martlet_client_seen WHERE model = ? AND key = ?")
    try statement.bind(1, text: shape.tableName)
    try statement.bind(2, text: key.text)
    defer { statement.reset() }
    return try statement.step()
  }

  /// Whether an image of the model shows a record.
  func showsImages(_ shape: RecordShape) throws -> Bool {
    let statement = try database.statement(
      "SELECT EXISTS(SELECT 1 FROM martlet_client_images WHERE model = ? AND record IS NOT NULL)")
    try statement.bind(1, text: shape.tableName)
    defer { statement.reset() }
    return try statement.step() && statement.int64(0) != 0
  }

  /// The keys of the records that have pending writes or were removed, and whose image shows a record.
  func shownImages(_ shape: RecordShape) throws -> [RecordKey] {
    let statement = try database.statement(
      "SELECT key FROM martlet_client_images WHERE model = ? AND record IS NOT NULL")
    try statement.bind(1, text: shape.tableName)
    defer { statement.reset() }
    var keys: [RecordKey] = []
    while try statement.step() {
      keys.append(RecordKey(values: try JSONValue(held: statement.bytes(0)).array ?? []))
    }
    return keys
  }
}

/// A refused write as the store keeps it.
package struct StoredLetter: Sendable, Hashable {
  package var letter: DeadLetter
  package var model: Int
  package var key: RecordKey
  /// When it was refused, in milliseconds of this client's wall clock.
  package var time: Int64
}

extension DeadLetter.Reason {
  fileprivate var json: JSONValue {
    switch self {
    case .conflict: ["kind": "conflict"]
    case .conditionFailed: ["kind": "conditionFailed"]
    case .unauthorized: ["kind": "unauthorized"]
    case .refused(let code, let message): ["kind": "refused", "code": .string(code), "message": .string(message)]
    case .dependsOn(let number): ["kind": "dependsOn", "number": .int(number)]
    }
  }

  fileprivate init(_ json: JSONValue) {
    switch json["kind"]?.string {
    case "conflict": self = .conflict
    case "conditionFailed": self = .conditionFailed
    case "unauthorized": self = .unauthorized
    case "dependsOn": self = .dependsOn(number: json["number"]?.int ?? 0)
    case _: self = .refused(code: json["code"]?.string ?? "", message: json["message"]?.string ?? "")
    }
  }
}
