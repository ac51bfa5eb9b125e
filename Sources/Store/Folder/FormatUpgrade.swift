internal import MartletChangeFeed
internal import MartletJSON
internal import MartletModels
internal import MartletSQLite
internal import MartletVocabulary

/// Brings a folder of format 1 to format 2, inside the caller's transaction.
///
/// The log's entries stay as they are: each has its own format byte. Added are the running checksum, computed once over
/// them, and the first offset of each group, for which each transaction counts as one; tombstones, from the log's
/// deletions; storages and defaults in the catalogue; and clients with their outcomes in place of single write numbers.
struct FormatUpgrade {
  /// Rows handled between two queries, so that a large log takes little memory.
  private static let page = 1_000

  private let database: Database

  init(_ database: Database) {
    self.database = database
  }

  func run() throws {
    try database.execute(
      """
      ALTER TABLE martlet_log ADD COLUMN head INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE martlet_log ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE martlet_revisions ADD COLUMN text TEXT NOT NULL DEFAULT '';
      ALTER TABLE martlet_fields ADD COLUMN storage TEXT NOT NULL DEFAULT '';
      ALTER TABLE martlet_fields ADD COLUMN added_default BLOB;
      ALTER TABLE martlet_fields ADD COLUMN fills BLOB;
      """)
    try database.execute(LogTable.horizonTable + OutcomeTable.tables + TombstoneTable.tables)
    try database.execute(
      "UPDATE martlet_horizon SET first = (SELECT coalesce(min(offset), 1) FROM martlet_log)")
    try upgradeCatalogue()
    try upgradeLog()
    try upgradeOutcomes()
    try database.execute("DROP TABLE martlet_writes")
    try database.execute("PRAGMA user_version = 2")
  }

  // MARK: The catalogue

  /// Storages follow from signatures, and the tables know the defaults their columns were added with.
  private func upgradeCatalogue() throws {
    let rows = try database.prepare(
      """
      SELECT f.model, f.number, f.name, f.signature, f.is_dropped, m.is_dropped, m.table_name
      FROM martlet_fields f JOIN martlet_models m ON m.number = f.model ORDER BY f.model, f.number
      """)
    var fields: [(model: Int64, number: Int64, storage: ColumnStorage, value: JSONValue)] = []
    while try rows.step() {
      guard let storage = ColumnStorage(signature: rows.text(3)) else {
        throw StoreError(.damaged, "the field \(rows.text(2)) has the unknown type \(rows.text(3))")
      }
      let isDropped = rows.int64(4) != 0 || rows.int64(5) != 0
      let value = isDropped ? .null : try columnDefault(rows.text(6), rows.text(2), storage)
      fields.append((rows.int64(0), rows.int64(1), storage, value))
    }
    let update = try database.prepare(
      "UPDATE martlet_fields SET storage = ?, added_default = ? WHERE model = ? AND number = ?")
    for field in fields {
      var writer = EntryWriter()
      writer.value(field.value)
      try update.bind(1, text: field.storage.rawValue)
      try update.bind(2, blob: writer.bytes)
      try update.bind(3, field.model)
      try update.bind(4, field.number)
      try update.run()
    }
  }

  private func columnDefault(_ table: String, _ column: String, _ storage: ColumnStorage) throws -> JSONValue {
    let info = try database.prepare("SELECT dflt_value FROM pragma_table_info(?) WHERE name = ?")
    try info.bind(1, text: "record_" + table)
    try info.bind(2, text: column)
    guard try info.step(), !info.isNull(0) else { return .null }
    // SQLite keeps the default's text, which is a literal that this store wrote.
    let value = try database.prepare("SELECT \(info.text(0))")
    return try value.step() ? try storage.read(value, 0) : .null
  }

  // MARK: The log

  private func upgradeLog() throws {
    let models = try Set(Catalogue(reading: database).models.map(\.number))
    let tombstones = try TombstoneTable(database)
    let select = try database.prepare(
      "SELECT offset, at, entry FROM martlet_log WHERE offset > ? ORDER BY offset LIMIT \(Self.page)")
    let update = try database.prepare("UPDATE martlet_log SET head = ?, checksum = ? WHERE offset = ?")
    var checksum = RunningChecksum.empty
    var last: Int64 = -1
    var head: Int64?
    while true {
      var rows: [(offset: Int64, at: Int64, entry: [UInt8])] = []
      try select.bind(1, last)
      while try select.step() { rows.append((select.int64(0), select.int64(1), select.bytes(2))) }
      guard let end = rows.last else { return }
      last = end.offset
      for row in rows {
        let first = head ?? row.offset
        head = EntryCoder.endsTransaction(row.entry) ? nil : first
        checksum.add(row.entry, offset: row.offset, head: first, time: row.at)
        try update.bind(1, first)
        try update.bind(2, Int64(bitPattern: checksum.value))
        try update.bind(3, row.offset)
        try update.run()
        if let change = try RecordCoder.summary(row.entry), models.contains(change.model) {
          if change.kind == .delete {
            try tombstones.put(
              change.model, change.key, version: change.version, at: row.at,
              image: Array(row.entry.dropFirst(EntryCoder.headSize)))
          } else {
            try tombstones.remove(change.model, change.key)
          }
        }
      }
    }
  }

  // MARK: Outcomes

  private func upgradeOutcomes() throws {
    let table = try OutcomeTable(database)
    let select = try database.prepare(
      "SELECT client, number, at, result FROM martlet_writes ORDER BY client, number")
    var client: (name: String, row: OutcomeTable.Client)?
    while try select.step() {
      let name = select.text(0)
      let row: OutcomeTable.Client
      if let client, client.name.utf8.elementsEqual(name.utf8) {
        row = client.row
      } else {
        row = try table.insert(WriteNumber(client: name, number: 0), 0, try newest(of: name))
        client = (name, row)
      }
      let (offset, result) = try Self.result(select.bytes(3))
      try table.insert(result, row.id, select.int64(1), offset)
    }
  }

  private func newest(of client: String) throws(SQLiteError) -> Int64 {
    let rows = try database.statement("SELECT max(at) FROM martlet_writes WHERE client = ?")
    defer { rows.reset() }
    try rows.bind(1, text: client)
    return try rows.step() ? rows.int64(0) : 0
  }

  /// A result of format 1 in the present form, and the offset before the write's changes. Format 1 named the records
  /// only, so that events come after them.
  private static func result(_ bytes: [UInt8]) throws(StoreError) -> (offset: Int64, bytes: [UInt8]) {
    var reader = EntryReader(bytes)
    var writer = EntryWriter()
    if try reader.byte() == 1 {
      writer.byte(1)
      writer.byte(try reader.byte())
      writer.text(try reader.text())
      writer.flag(false)
      return (0, writer.bytes)
    }
    let first = try reader.signedPattern()
    let count = try reader.number()
    let records = try reader.count()
    guard first >= 0, first < 1 << 62, records <= count, count < 1 << 32 else { throw EntryReader.damaged }
    writer.byte(0)
    writer.count(count)
    for _ in 0..<records {
      writer.byte(0)
      writer.byte(try reader.byte())
      writer.count(try reader.number())
      writer.unsigned(try reader.unsigned())
      writer.values(try reader.values())
    }
    for _ in records..<count { writer.byte(1) }
    return (max(0, first - 1), writer.bytes)
  }
}

extension ColumnStorage {
  /// The storage of a field of format 1, which kept the signature only.
  fileprivate init?(signature: String) {
    if let storage = ColumnStorage(rawValue: signature) {
      self = storage
    } else if let kind = ScalarKind(rawValue: signature) {
      self.init(kind)
    } else if signature == "enum" {
      self = .text
    } else if signature == "embedded" || signature.hasPrefix("[") {
      self = .json
    } else {
      return nil
    }
  }
}
