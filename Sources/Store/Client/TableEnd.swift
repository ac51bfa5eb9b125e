internal import MartletJSON
internal import MartletModels

/// The end of a table in the order of its keys. The pages of a sync come in that order, and so do many imports: that
/// most of their records are new is known by it, without a search for each.
///
/// Of one transaction, and of the table that it asked about last: one that writes to several tables by turns searches.
struct TableEnd {
  private enum Knowledge {
    case searches(Int)
    /// The first value of the greatest key; null for a table without records.
    case end(JSONValue)
  }

  /// Searches in one table before its end is read, which a transaction of a few writes does not pay for.
  private static let searchesBefore = 8

  private var table: RecordTable?
  private var knowledge = Knowledge.searches(0)

  /// Whether the table has nothing from this key on, without the records that the transaction has met.
  mutating func isBefore(_ key: RecordKey, in table: RecordTable) throws -> Bool {
    if self.table !== table { (self.table, knowledge) = (table, .searches(0)) }
    switch knowledge {
    case .searches(Self.searchesBefore):
      let end = try table.lastKey()
      knowledge = .end(end)
      return Self.isBefore(end, key)
    case .searches(let count):
      knowledge = .searches(count + 1)
      return false
    case .end(let end): return Self.isBefore(end, key)
    }
  }

  /// Whether a key comes after all whose greatest has the first value `end`. Numbers and texts have the order of
  /// SQLite's columns; of others nothing is said.
  private static func isBefore(_ end: JSONValue, _ key: RecordKey) -> Bool {
    switch (end, key[0]) {
    case (.null, _): true
    case (.int(let end), .int(let value)): end < value
    case (.string(let end), .string(let value)): ValueOrder.compareBytes(end, value) < 0
    case (_, _): false
    }
  }
}
