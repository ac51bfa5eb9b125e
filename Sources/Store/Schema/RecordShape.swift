package import MartletJSON
package import MartletModels
internal import MartletSQLite

/// How a field's values lie in their column.
package enum ColumnStorage: String, Sendable {
  case text
  case integer
  case real
  /// 0 and 1 in an INTEGER column.
  case boolean
  /// Lists and embedded values: JSON in a TEXT column.
  case json

  var sqlType: String {
    switch self {
    case .text, .json: "TEXT"
    case .integer, .boolean: "INTEGER"
    case .real: "REAL"
    }
  }
}

/// One field of a model as the store keeps it.
package struct RecordColumn: Sendable, Equatable {
  /// The column's name in the table; it stays when the field is renamed with a mapping.
  package var name: String
  /// The field's name in the schema, for messages.
  package var field: String
  package var storage: ColumnStorage
  /// What the type amounts to for migrations: equal signatures hold the same values.
  package var signature: String
  package var isRequired: Bool
  /// The value records written before the field existed are given.
  package var defaultValue: JSONValue
  /// Whether the values are dates or times that a client's queries compare and order by the moments that they mean. Of
  /// a server's fields their filters know it.
  package var isMoment = false
  /// Which values the schema allows; a migration looks for others.
  package var domain = ValueDomain.any
  /// The field's number in the folder's catalogue, never used again for another; -1 until the folder is opened.
  package var storedNumber = -1
  /// The catalogue revision that added it.
  package var addedRevision: Int64 = 0
  /// The default it was added with, from the catalogue: what older entries of the log hold in it.
  package var addedDefault: JSONValue = .null
  /// What entries without a value hold since the field became required, from the catalogue, oldest first.
  package var fills: [ColumnFill] = []

  package init(
    name: String, field: String, storage: ColumnStorage, signature: String, isRequired: Bool, defaultValue: JSONValue
  ) {
    self.name = name
    self.field = field
    self.storage = storage
    self.signature = signature
    self.isRequired = isRequired
    self.defaultValue = defaultValue
  }
}

/// The value that a field's nulls were replaced with when it became required.
package struct ColumnFill: Sendable, Equatable {
  /// The catalogue revision that did it: entries of earlier ones are read with the value.
  package var revision: Int64
  package var value: JSONValue
}

/// A declared index: positions into the model's fields, in order.
package struct RecordIndex: Sendable, Equatable {
  package var name: String
  package var fields: [Int]
  package var isUnique: Bool
  /// The one-to-one relation that the index keeps, for messages.
  package var relation: String?

  package init(name: String, fields: [Int], isUnique: Bool) {
    self.name = name
    self.fields = fields
    self.isUnique = isUnique
  }
}

/// What the store knows of one model: its table, columns, key and indexes.
package struct RecordShape: Sendable, Equatable {
  /// The model's number in the schema in force, as changes carry it.
  package var model: Int
  package var name: String
  /// The table's name without the store's prefix; it stays when the model is renamed with a mapping.
  package var tableName: String
  package var columns: [RecordColumn]
  /// Positions of the primary key's fields, in order.
  package var key: [Int]
  package var indexes: [RecordIndex]
  /// What happens to records of other models when one of this model is deleted.
  package var cascades: [Cascade]
  /// The model's number in the folder's catalogue; -1 until the folder is opened.
  package var storedNumber = -1

  /// Children, and what happens to them when their parent goes.
  package struct Cascade: Sendable, Equatable {
    package enum Action: Sendable, Equatable {
      /// They go too.
      case delete
      /// The parent stays while it has children.
      case refuse
      /// Their reference becomes null.
      case clear
    }

    /// The children's model number in the schema in force.
    package var child: Int
    /// The child's fields that hold the parent's key, in the key's order.
    package var reference: [Int]
    package var action: Action

    package init(child: Int, reference: [Int], action: Action = .delete) {
      self.child = child
      self.reference = reference
      self.action = action
    }
  }

  package init(
    model: Int, name: String, tableName: String, columns: [RecordColumn], key: [Int], indexes: [RecordIndex],
    cascades: [Cascade]
  ) {
    self.model = model
    self.name = name
    self.tableName = tableName
    self.columns = columns
    self.key = key
    self.indexes = indexes
    self.cascades = cascades
  }

  /// The table's quoted name.
  var table: String { SQLText.quoted("record_" + tableName) }

  /// An index's quoted name.
  func quotedName(of index: RecordIndex) -> String {
    SQLText.quoted("index_\(tableName)_\(index.name)")
  }

  /// The columns of an index as the catalogue lists them. Dates and times of a declared index have the order of
  /// queries; the store's own indexes, whose names begin with '#', find records by their keys, which are texts.
  func listedColumns(of index: RecordIndex) -> [String] {
    index.fields.map { field in
      let isMoment = columns[field].isMoment && !index.name.hasPrefix("#")
      return isMoment ? IndexedColumn.moment(columns[field].name) : columns[field].name
    }
  }

  /// A record in words: the model and its key.
  func describe(_ key: RecordKey) -> String {
    let values = key.values.map { $0.string ?? String(decoding: $0.serialized(), as: UTF8.self) }
    return "\(name) " + (values.count == 1 ? values[0] : "(\(values.joined(separator: ", ")))")
  }

  /// A column's quoted name.
  func column(_ field: Int) -> String { SQLText.quoted(columns[field].name) }
}

/// A column in the catalogue's list of an index's columns.
enum IndexedColumn {
  /// After the name of a column whose texts have the order of the moments that they mean. '#' cannot stand in a GraphQL
  /// name.
  private static let momentSuffix = "#moment"

  static func moment(_ name: String) -> String { name + momentSuffix }

  /// The name of a listed column.
  static func name(_ listed: String) -> String {
    isMoment(listed) ? String(decoding: listed.utf8.dropLast(momentSuffix.utf8.count), as: UTF8.self) : listed
  }

  /// A listed column after its own has another name.
  static func renamed(_ listed: String, _ old: String, to new: String) -> String {
    guard name(listed).hasSameBytes(as: old) else { return listed }
    return isMoment(listed) ? moment(new) : new
  }

  /// A listed column in the definition of the index.
  static func sql(_ listed: String) -> String {
    SQLText.quoted(name(listed)) + (isMoment(listed) ? " COLLATE " + MomentCollation.name : "")
  }

  private static func isMoment(_ listed: String) -> Bool {
    listed.utf8.count > momentSuffix.utf8.count && listed.hasSuffix(momentSuffix)
  }
}

/// Small pieces of SQL.
enum SQLText {
  /// The store's own columns; '#' cannot stand in a GraphQL name.
  static let version = "\"#version\""
  static let created = "\"#created\""
  static let changed = "\"#changed\""

  /// An identifier in double quotes.
  static func quoted(_ name: String) -> String {
    "\"" + name.replacing("\"", with: "\"\"") + "\""
  }

  /// `count` parameters: `?, ?, ?`.
  static func parameters(_ count: Int) -> String {
    repeatElement("?", count: count).joined(separator: ", ")
  }

  /// A text literal.
  static func literal(_ text: String) -> String {
    "'" + text.replacing("'", with: "''") + "'"
  }
}
