internal import MartletSQLite

/// Something that an operator declares while a server runs and that has to outlive it, such as a namespace of the tree.
/// The store keeps its bytes; what they mean is known where it was declared.
struct StoredDefinition {
  /// What is declared, such as `namespace`.
  var kind: String
  var name: String
  /// Empty when it was taken back.
  var body: [UInt8]
}

/// The bodies of entries that declare something.
enum DefinitionCoder {
  static func write(_ definition: StoredDefinition, into writer: inout EntryWriter) {
    writer.text(definition.kind)
    writer.text(definition.name)
    writer.bytes.append(contentsOf: definition.body)
  }

  static func read(_ reader: inout EntryReader) throws(StoreError) -> StoredDefinition {
    StoredDefinition(kind: try reader.text(), name: try reader.text(), body: reader.rest())
  }
}

/// What is declared now. Confined to the connection's thread.
final class DefinitionTable {
  static let tables = """
    CREATE TABLE IF NOT EXISTS martlet_definitions(
      kind TEXT NOT NULL, name TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY(kind, name)) WITHOUT ROWID, STRICT;
    """

  private let database: Database

  init(_ database: Database) {
    self.database = database
  }

  /// The definitions of a kind, by name.
  func all(_ kind: String) throws -> [(name: String, body: [UInt8])] {
    let rows = try database.statement("SELECT name, body FROM martlet_definitions WHERE kind = ? ORDER BY name")
    defer { rows.reset() }
    try rows.bind(1, text: kind)
    var found: [(name: String, body: [UInt8])] = []
    while try rows.step() { found.append((rows.text(0), rows.bytes(1))) }
    return found
  }

  func fold(_ definition: StoredDefinition) throws {
    let change = try database.statement(
      definition.body.isEmpty
        ? "DELETE FROM martlet_definitions WHERE kind = ? AND name = ?"
        : "INSERT OR REPLACE INTO martlet_definitions(kind, name, body) VALUES(?, ?, ?)")
    try change.bind(1, text: definition.kind)
    try change.bind(2, text: definition.name)
    if !definition.body.isEmpty { try change.bind(3, blob: definition.body) }
    try change.run()
  }
}

extension WriteTransaction {
  /// Declares something, in place of what had the name; empty bytes take it back. Subscribers do not see it.
  package func define(_ kind: String, _ name: String, _ body: [UInt8]) throws(StoreError) {
    try note(StoredDefinition(kind: kind, name: name, body: body))
  }
}

extension ReadSnapshot {
  /// What is declared of a kind, by name.
  package func definitions(_ kind: String) throws(StoreError) -> [(name: String, body: [UInt8])] {
    try typed { try DefinitionTable(database).all(kind) }
  }
}
