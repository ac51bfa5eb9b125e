internal import MartletChangeFeed
internal import MartletJSON
internal import MartletModels

/// A record to be created that has been checked, and coded for the log, before the writer's turn.
///
/// It holds under the catalogue it was made with, and for a key that no remembered deletion counts on; otherwise the
/// writer prepares the record itself.
package struct RecordDraft: Sendable {
  /// Names the catalogue, as `RecordDrafter.generation` does.
  let generation: Int
  let model: Int
  /// The record as it will be read back.
  let record: Record
  let key: RecordKey
  /// The record's entry in the log as version 1, without the mark of a transaction's end.
  let entry: [UInt8]
}

/// Prepares records of the models in force. From any thread.
struct RecordDrafter: Sendable {
  /// Changes with the catalogue, so that drafts of an older one are not used.
  let generation: Int
  private let shapes: [Int: RecordShape]
  private let coder: EntryCoder

  init(generation: Int, _ shapes: [RecordShape], _ coder: EntryCoder) {
    self.generation = generation
    self.shapes = Dictionary(shapes.map { ($0.model, $0) }) { first, _ in first }
    self.coder = coder
  }

  /// The draft of a new record; nil for one that the writer will refuse.
  func draft(_ model: Int, _ record: Record) -> RecordDraft? {
    guard let shape = shapes[model], let record = try? shape.completed(record) else { return nil }
    let key = shape.key(of: record)
    let change = RecordChange(kind: .create, model: model, key: key, version: 1, image: record)
    guard let entry = try? coder.bytes(.change(.record(change)), endsTransaction: false) else { return nil }
    return RecordDraft(generation: generation, model: model, record: record, key: key, entry: entry)
  }

  /// The same operation with drafts of all records that it creates.
  func drafted(_ operation: WriteOperation) -> WriteOperation {
    switch operation {
    case .create(let model, let record, nil): .create(model: model, record: record, draft: draft(model, record))
    case .batch(let operations): .batch(operations.map(drafted))
    case .create, .update, .delete, .event, .transaction, .work, .series: operation
    }
  }
}

extension RecordShape {
  /// A new record as it will be read back, with the values of fields that it lacks.
  ///
  /// - Throws: `invalid` when it has too many values, or not all that are required.
  func completed(_ record: Record) throws(StoreError) -> Record {
    var record = record
    // A write that was planned before fields were added lacks their values.
    if record.values.count < columns.count {
      record.values += columns.dropFirst(record.values.count).map(\.defaultValue)
    }
    try check(record)
    normalize(&record)
    return record
  }

  /// Makes the record what will be read back.
  func normalize(_ record: inout Record) {
    // Asked first: the loop makes the record's list its own, by a copy, before it looks at a column.
    guard columns.indices.contains(where: { columns[$0].storage == .real }) else { return }
    for field in columns.indices where columns[field].storage == .real {
      record.values[field] = ColumnStorage.real.normalized(record.values[field])
    }
  }

  /// - Throws: `invalid` when a value is missing that is required, or the number of values is wrong.
  func check(_ record: Record) throws(StoreError) {
    guard record.values.count == columns.count else {
      throw StoreError(.invalid, "a \(name) has \(columns.count) fields, not \(record.values.count)")
    }
    for field in columns.indices where columns[field].isRequired && record.values[field].isNull {
      throw StoreError(.invalid, "\(name).\(columns[field].field) is required")
    }
  }

  /// The key of a record.
  func key(of record: Record) -> RecordKey { record.key(key) }
}
