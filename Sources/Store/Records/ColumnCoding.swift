package import MartletJSON
package import MartletSQLite

extension ColumnStorage {
  /// Binds a field's value as its column holds it.
  ///
  /// - Throws: `StoreError.invalid` when the value is of another type; values are checked before they come here, so
  ///   that this is the last guard and not the message users see.
  func bind(_ value: JSONValue, to statement: Statement, at index: Int) throws {
    switch (self, value) {
    case (_, .null): try statement.bind(index)
    case (.text, .string(let text)): try statement.bind(index, text: text)
    case (.integer, .int(let number)): try statement.bind(index, number)
    case (.real, .double(let number)): try statement.bind(index, number)
    case (.real, .int(let number)): try statement.bind(index, Double(number))
    case (.real, .uint(let number)): try statement.bind(index, Double(number))
    case (.boolean, .bool(let flag)): try statement.bind(index, flag ? 1 : Int64(0))
    case (.json, _): try statement.bind(index, utf8: value.serialized())
    default: throw StoreError(.invalid, "a value does not fit its column of type \(rawValue)")
    }
  }

  /// Whether a column holds a value of this kind.
  package func holds(_ value: JSONValue) -> Bool {
    switch (self, value) {
    case (_, .null), (.text, .string), (.integer, .int), (.real, .int), (.real, .uint), (.real, .double),
      (.boolean, .bool), (.json, _):
      true
    case (.text, _), (.integer, _), (.real, _), (.boolean, _): false
    }
  }

  /// Reads a field's value from its column.
  package func read(_ statement: Statement, _ column: Int) throws -> JSONValue {
    if statement.isNull(column) { return .null }
    switch self {
    case .text: return .string(statement.text(column))
    case .integer: return .int(statement.int64(column))
    case .real: return .double(statement.double(column))
    case .boolean: return .bool(statement.int64(column) != 0)
    case .json: return try JSONValue(held: statement.bytes(column))
    }
  }

  /// Reads a field's value from its column of the statement's row.
  func read(_ row: StatementRow, of statement: Statement, at column: Int) throws -> JSONValue {
    let number = Int32(truncatingIfNeeded: column)
    return switch self {
    case .text: row.text(number).map { .string($0) } ?? .null
    case .integer: row.integer(number).map { .int($0) } ?? .null
    case .real: row.real(number).map { .double($0) } ?? .null
    case .boolean: row.integer(number).map { .bool($0 != 0) } ?? .null
    case .json: try read(statement, column)
    }
  }

  /// The value as it will be read back, so that the log and the table say the same.
  package func normalized(_ value: JSONValue) -> JSONValue {
    switch (self, value) {
    case (.real, .int(let number)): .double(Double(number))
    case (.real, .uint(let number)): .double(Double(number))
    default: value
    }
  }
}
