internal import MartletModels
internal import MartletSQLite

/// The models' tables on one connection. Confined to the connection's thread.
final class Records {
  let tables: [RecordTable]
  private let positions: [Int: Int]

  init(_ shapes: [RecordShape], on database: Database, _ hidden: HiddenRows = HiddenRows()) {
    tables = shapes.map { RecordTable($0, on: database, hidden) }
    positions = Dictionary(shapes.indices.map { (shapes[$0].model, $0) }) { first, _ in first }
  }

  /// The position of a model among the shapes.
  func position(of model: Int) throws(StoreError) -> Int {
    guard let position = positions[model] else {
      throw StoreError(.invalid, "there is no model number \(model)")
    }
    return position
  }

  func table(_ model: Int) throws(StoreError) -> RecordTable {
    tables[try position(of: model)]
  }
}
