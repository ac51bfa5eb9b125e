internal import MartletJSON
internal import MartletModels
internal import MartletSQLite

/// A statement's text and the values of its parameters.
struct BoundSQL {
  var text: String
  var values: [SQLValue]
  /// What remains to be decided in memory.
  var residual: Predicate?

  func bind(to statement: Statement) throws {
    for (index, value) in values.enumerated() { try value.bind(to: statement, at: index + 1) }
  }
}

/// The value of a parameter.
enum SQLValue: Equatable {
  /// As a column of this storage holds it.
  case column(JSONValue, ColumnStorage)
  case text([UInt8])
  case integer(Int64)
  case real(Double)

  func bind(to statement: Statement, at index: Int) throws {
    switch self {
    case .column(let value, let storage): try storage.bind(value, to: statement, at: index)
    case .text(let bytes): try statement.bind(index, utf8: bytes)
    case .integer(let number): try statement.bind(index, number)
    case .real(let number): try statement.bind(index, number)
    }
  }
}
