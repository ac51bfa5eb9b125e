internal import MartletJSON
internal import MartletModels
internal import MartletSQLite
internal import MartletSyncEngine

/// The tables of a client's store beside those of its records. Fields are named by their columns, so that a migration
/// keeps the outbox. Confined to the connection's thread.
struct ClientTables {
  static let sql = """
    CREATE TABLE martlet_client(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT;
    CREATE TABLE martlet_client_outbox(
      number INTEGER PRIMARY KEY, model TEXT NOT NULL, key TEXT NOT NULL, content TEXT NOT NULL,
      condition TEXT, is_sent INTEGER NOT NULL, conflicts INTEGER NOT NULL) STRICT;
    CREATE INDEX martlet_client_outbox_key ON martlet_client_outbox(model, key);
    CREATE TABLE martlet_client_images(
      model TEXT NOT NULL, key TEXT NOT NULL, record TEXT, version INTEGER NOT NULL, position INTEGER NOT NULL,
      PRIMARY KEY(model, key)) WITHOUT ROWID, STRICT;
    """

  /// Refused writes, the rows that the pages of a full sync had, and the index by which deletions are found. Made when
  /// they are missing: older files have none.
  static let later = """
    CREATE TABLE IF NOT EXISTS martlet_client_letters(
      number INTEGER PRIMARY KEY, model TEXT NOT NULL, key TEXT NOT NULL, content TEXT NOT NULL, condition TEXT,
      reason TEXT NOT NULL, at INTEGER NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS martlet_client_seen(
      model TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY(model, key)) WITHOUT ROWID, STRICT;
    CREATE INDEX IF NOT EXISTS martlet_client_outbox_deletion ON martlet_client_outbox(number)
      WHERE content = '{"delete":true}';
    """

  /// Writes that one statement adds to the outbox: they take half the time of as many statements.
  static let writesAtOnce = 16

  /// The name of the value that says that the store's writes go to a server.
  static let synced = "synced"

  let database: Database

  // MARK: Values

  /// A named value: cursors, the next write's number.
  func value(_ name: String) throws -> String? {
    let statement = try database.statement("SELECT value FROM martlet_client WHERE name = ?")
    try statement.bind(1, text: name)
    defer { statement.reset() }
    return try statement.step() ? statement.text(0) : nil
  }

  func set(_ name: String, _ value: String) throws {
    let statement = try database.statement("INSERT OR REPLACE INTO martlet_client(name, value) VALUES(?, ?)")
    try statement.bind(1, text: name)
    try statement.bind(2, text: value)
    try statement.run()
  }

  func remove(_ name: String) throws {
    let statement = try database.statement("DELETE FROM martlet_client WHERE name = ?")
    try statement.bind(1, text: name)
    try statement.run()
  }

  func clear() throws {
    try database.execute(
      """
      DELETE FROM martlet_client; DELETE FROM martlet_client_outbox; DELETE FROM martlet_client_images;
      DELETE FROM martlet_client_letters; DELETE FROM martlet_client_seen
      """)
  }

  // MARK: Outbox

  /// The pending writes of a record, in order.
  func pending(_ shape: RecordShape, _ key: RecordKey) throws -> [PendingWrite] {
    let statement = try database.statement(
      """
      SELECT number, content, condition, is_sent, conflicts FROM martlet_client_outbox
      WHERE model = ? AND key = ? ORDER BY number
      """)
    try statement.bind(1, text: shape.tableName)
    try statement.bind(2, text: key.text)
    defer { statement.reset() }
    var writes: [PendingWrite] = []
    while try statement.step() {
      let json = try JSONValue(held: statement.bytes(1))
      var write = PendingWrite(
        number: statement.int64(0), content: try content(json, shape),
        condition: try statement.isNull(2)
          ? nil : StoredCondition(shape).predicate(JSONValue(held: statement.bytes(2))))
      write.isSent = statement.int64(3) != 0
      write.conflicts = Int(statement.int64(4))
      write.over = json["over"].map { shape.record(of: $0) }
      writes.append(write)
    }
    return writes
  }

  func put(_ write: PendingWrite, _ shape: RecordShape, _ key: RecordKey) throws {
    let statement = try database.statement("INSERT OR REPLACE \(Self.outboxColumns) VALUES(?, ?, ?, ?, ?, ?, ?)")
    try bind(NewRows.Write(write: write, shape: shape, key: key), to: statement, at: 1)
    try statement.run()
  }

  /// Adds `writesAtOnce` writes, whose numbers are new, by one statement.
  func insert(all writes: [NewRows.Write]) throws {
    precondition(writes.count == Self.writesAtOnce, "the statement has as many rows as the table says")
    let statement = try database.statement(Self.insertSeveral)
    for (index, write) in writes.enumerated() { try bind(write, to: statement, at: index * 7 + 1) }
    try statement.run()
  }

  private static let outboxColumns =
    "INTO martlet_client_outbox(number, model, key, content, is_sent, conflicts, condition)"
  private static let insertSeveral =
    "INSERT \(outboxColumns) VALUES"
    + repeatElement("(?, ?, ?, ?, ?, ?, ?)", count: writesAtOnce).joined(separator: ", ")

  private func bind(_ row: NewRows.Write, to statement: Statement, at first: Int) throws {
    try statement.bind(first, row.write.number)
    try statement.bind(first + 1, text: row.shape.tableName)
    try statement.bind(first + 2, text: row.key.text)
    try statement.bind(first + 3, utf8: json(row.write, row.shape).serialized())
    try statement.bind(first + 4, row.write.isSent ? 1 : Int64(0))
    try statement.bind(first + 5, Int64(row.write.conflicts))
    if let condition = row.write.condition {
      try statement.bind(first + 6, utf8: StoredCondition(row.shape).json(condition).serialized())
    } else {
      try statement.bind(first + 6)
    }
  }

  func removeWrite(_ number: Int64) throws {
    let statement = try database.statement("DELETE FROM martlet_client_outbox WHERE number = ?")
    try statement.bind(1, number)
    try statement.run()
  }

  /// Every pending write in order: its number, and the table of its model.
  ///
  /// What the server may already have goes before what it has not: a write that is made again after a conflict keeps
  /// its place under a higher number. A server that has forgotten this client would otherwise know it again from a new
  /// write, and take the one that is sent again for one that never arrived.
  func outbox() throws -> [(number: Int64, table: String)] {
    let statement = try database.statement("SELECT number, model, is_sent FROM martlet_client_outbox ORDER BY number")
    defer { statement.reset() }
    var sent: [(number: Int64, table: String)] = []
    var others: [(number: Int64, table: String)] = []
    while try statement.step() {
      let write = (number: statement.int64(0), table: statement.text(1))
      if statement.int64(2) != 0 { sent.append(write) } else { others.append(write) }
    }
    return sent.isEmpty ? others : sent + others
  }

  private func json(_ write: PendingWrite, _ shape: RecordShape) -> JSONValue {
    let content = json(write.content, shape)
    guard let over = write.over, var members = content.object else { return content }
    members["over"] = shape.object(of: over)
    return .object(members)
  }

  func json(_ content: PendingWrite.Content, _ shape: RecordShape) -> JSONValue {
    switch content {
    case .create(let record): return ["create": shape.object(of: record)]
    case .delete: return ["delete": true]
    case .update(let patches):
      let members = patches.map { patch in
        (key: shape.columns[patch.field].name, value: JSONValue.array([patch.old, patch.new]))
      }
      return ["update": .object(JSONObject(members))]
    }
  }

  func content(_ json: JSONValue, _ shape: RecordShape) throws(StoreError) -> PendingWrite.Content {
    if let record = json["create"] { return .create(shape.record(of: record)) }
    if json["delete"] != nil { return .delete }
    guard let members = json["update"]?.object else {
      throw StoreError(.damaged, "the outbox holds a write of \(shape.name) that is none of create, update and delete")
    }
    // A field that a migration has removed is no longer sent.
    return .update(
      members.compactMap { name, values in
        guard let field = shape.columns.firstIndex(where: { $0.name.hasSameBytes(as: name) }) else { return nil }
        return FieldPatch(field: field, old: values[0] ?? .null, new: values[1] ?? .null)
      })
  }

  // MARK: Images

  /// The server's image of a record that has pending writes or is deleted.
  ///
  /// - Parameter row: gives the record's row, which is asked for when the image lacks fields.
  func image(_ shape: RecordShape, _ key: RecordKey, row: () throws -> StoredRecord?) throws -> ServerImage? {
    let statement = try database.statement(
      "SELECT record, version, position FROM martlet_client_images WHERE model = ? AND key = ?")
    try statement.bind(1, text: shape.tableName)
    try statement.bind(2, text: key.text)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    var record: Record?
    if !statement.isNull(0) { record = try shape.record(of: JSONValue(held: statement.bytes(0)), or: row) }
    return ServerImage(record: record, version: statement.int64(1), position: statement.int64(2))
  }

  func put(_ image: ServerImage?, _ shape: RecordShape, _ key: RecordKey) throws {
    guard let image else {
      let statement = try database.statement("DELETE FROM martlet_client_images WHERE model = ? AND key = ?")
      try statement.bind(1, text: shape.tableName)
      try statement.bind(2, text: key.text)
      return try statement.run()
    }
    let statement = try database.statement(
      "INSERT OR REPLACE INTO martlet_client_images(model, key, record, version, position) VALUES(?, ?, ?, ?, ?)")
    try statement.bind(1, text: shape.tableName)
    try statement.bind(2, text: key.text)
    if let record = image.record {
      try statement.bind(3, utf8: shape.object(of: record).serialized())
    } else {
      try statement.bind(3)
    }
    try statement.bind(4, image.version)
    try statement.bind(5, image.position)
    try statement.run()
  }
}

extension RecordKey {
  /// The key's values as JSON text, which equal keys have in common.
  var text: String { JSONValue.array(values).description }
}
