internal import MartletJSON
internal import MartletLiveQueries
internal import MartletModels

/// What goes with a deleted record, or loses its reference to it: found before anything is changed, children before
/// their parents. Each record is met once, however many ways lead to it.
struct ClientCascade {
  /// Records that one deletion may take along. More are probably a mistake, and each is a write of the outbox.
  static let recordLimit = 100_000

  struct Item {
    var table: RecordTable
    var key: RecordKey
    var record: Record
  }

  private struct Name: Hashable {
    var model: Int
    var key: RecordKey
  }

  private let records: Records
  private let queries: ClientQueries
  /// Records to delete, children first; the last is the one that was asked for.
  private(set) var deleted: [Item] = []
  /// Records that stay, without their references.
  private(set) var cleared: [Item] = []
  private var clearedPlaces: [Name: Int] = [:]
  private var met: Set<Name> = []

  init(_ records: Records, _ queries: ClientQueries) {
    self.records = records
    self.queries = queries
  }

  /// Finds what goes with a record.
  ///
  /// - Throws: `referenced` when a relation keeps a record that has others; `tooManyRows`.
  mutating func collect(_ table: RecordTable, _ key: RecordKey, _ record: Record) throws {
    // A stack in place of recursion: chains of records are as long as the application makes them.
    var stack: [(item: Item, isDone: Bool)] = [(Item(table: table, key: key, record: record), false)]
    met.insert(Name(model: table.shape.model, key: key))
    while let (item, isDone) = stack.popLast() {
      if isDone {
        deleted.append(item)
        continue
      }
      stack.append((item, true))
      for cascade in item.table.shape.cascades {
        stack += try children(of: item, cascade).map { ($0, false) }
      }
      guard met.count <= Self.recordLimit else {
        throw StoreError(
          .tooManyRows, "more than \(Self.recordLimit) records would go with this one of \(table.shape.name)")
      }
    }
    let gone = Set(deleted.map { Name(model: $0.table.shape.model, key: $0.key) })
    cleared.removeAll { gone.contains(Name(model: $0.table.shape.model, key: $0.key)) }
  }

  /// The records that go with `item` by one relation and have not been met.
  private mutating func children(of item: Item, _ cascade: RecordShape.Cascade) throws -> [Item] {
    let rows = try queries.related(cascade.child, cascade.reference, item.key.values)
    let table = try records.table(cascade.child)
    switch cascade.action {
    case .delete:
      return rows.filter { met.insert(Name(model: cascade.child, key: $0.key)).inserted }
        .map { Item(table: table, key: $0.key, record: $0.record) }
    case .refuse:
      guard let first = rows.first else { return [] }
      throw StoreError(
        .referenced,
        "\(item.table.shape.describe(item.key)) is not deleted, because \(table.shape.describe(first.key)) refers to it"
      )
    case .clear:
      for row in rows {
        // A record can have several references, each to another record that goes.
        let name = Name(model: cascade.child, key: row.key)
        let place = clearedPlaces[name] ?? cleared.count
        if place == cleared.count {
          clearedPlaces[name] = place
          cleared.append(Item(table: table, key: row.key, record: row.record))
        }
        for field in cascade.reference { cleared[place].record.values[field] = .null }
      }
      return []
    }
  }
}
