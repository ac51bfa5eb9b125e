internal import MartletChangeFeed
internal import MartletJSON
internal import MartletModels

/// The bodies of record changes in the log.
///
/// A body names models and fields by the folder's own numbers, which are never used twice, and carries the catalogue's
/// revision: an old entry is read under a newer schema, or is a gap, but is never misread.
struct RecordCoder {
  private let shapes: [RecordShape]
  private let revision: Int64
  /// By the model's number in the schema in force: the position in `shapes`.
  private let positions: [Int: Int]
  /// By the folder's model number: the position in `shapes`.
  private let models: [Int: Int]
  /// By position in `shapes`, by the folder's field number: the field's position.
  private let fields: [[Int: Int]]
  /// By position in `shapes`: the fields that have become required with a value for older entries.
  private let filled: [[Int]]

  init(_ shapes: [RecordShape], revision: Int64) {
    self.shapes = shapes
    self.revision = revision
    positions = Dictionary(shapes.indices.map { (shapes[$0].model, $0) }) { first, _ in first }
    models = Dictionary(shapes.indices.map { (shapes[$0].storedNumber, $0) }) { first, _ in first }
    filled = shapes.map { shape in shape.columns.indices.filter { !shape.columns[$0].fills.isEmpty } }
    fields = shapes.map { shape in
      Dictionary(shape.columns.indices.map { (shape.columns[$0].storedNumber, $0) }) { first, _ in first }
    }
  }

  /// Appends the body of a change; its kind stands in the entry's head.
  func write(_ change: RecordChange, into writer: inout EntryWriter) throws(StoreError) {
    guard let position = positions[change.model] else {
      throw StoreError(.invalid, "there is no model number \(change.model)")
    }
    let shape = shapes[position]
    writer.unsigned(UInt64(bitPattern: revision))
    writer.count(shape.storedNumber)
    writer.unsigned(UInt64(bitPattern: change.version))
    writer.key(change.key)
    // Null is the absence of a value and takes no space.
    writer.count(change.image.values.reduce(0) { $0 + ($1.isNull ? 0 : 1) })
    for (field, value) in change.image.values.enumerated() where !value.isNull {
      writer.count(shape.columns[field].storedNumber)
      writer.value(value)
    }
    writer.count(change.old.count)
    for (field, value) in change.old {
      writer.count(shape.columns[field].storedNumber)
      writer.value(value)
    }
  }

  /// The folder's number of the model that a change is about, from the body alone.
  static func modelNumber(_ reader: inout EntryReader) throws(StoreError) -> Int {
    _ = try reader.signedPattern()
    return try reader.number()
  }

  /// Reads the body of a change; nil when its model is no longer in the schema.
  func read(_ kind: ChangeKind, _ reader: inout EntryReader) throws(StoreError) -> RecordChange? {
    let written = try reader.signedPattern()
    guard let position = models[try reader.number()] else { return nil }
    let version = try reader.signedPattern()
    let key = try reader.values()
    let image = try readImage(&reader, position, written)
    var old: [(field: Int, value: JSONValue)] = []
    for _ in 0..<(try reader.count()) {
      let number = try reader.number()
      let value = try reader.value()
      if let field = fields[position][number] {
        let filled = value.isNull ? shapes[position].columns[field].fill(after: written) : nil
        old.append((field, filled ?? value))
      }
    }
    return RecordChange(
      kind: kind, model: shapes[position].model, key: RecordKey(values: key), version: version, image: image, old: old)
  }

  /// The record that a tombstone has kept; nil when its model is no longer in the schema.
  func image(_ bytes: [UInt8]) throws(StoreError) -> Record? {
    var reader = EntryReader(bytes)
    return try read(.delete, &reader)?.image
  }

  /// What an entry of any format and schema says about a record; nil when it is about something else.
  static func summary(_ entry: [UInt8]) throws(StoreError) -> Summary? {
    guard entry.count > EntryCoder.headSize, let kind = EntryCoder.changeKind(entry) else { return nil }
    var reader = EntryReader(entry, from: EntryCoder.headSize)
    _ = try reader.signedPattern()
    return Summary(
      kind: kind, model: try reader.number(), version: try reader.signedPattern(), key: try reader.key())
  }

  /// The part of a record's change that needs no schema.
  struct Summary {
    var kind: ChangeKind
    /// The folder's number.
    var model: Int
    var version: Int64
    var key: RecordKey
  }

  private func readImage(_ reader: inout EntryReader, _ position: Int, _ written: Int64) throws(StoreError) -> Record {
    let shape = shapes[position]
    // A field younger than the entry had its default in that record ever since.
    var values = shape.columns.map { $0.addedRevision > written ? $0.addedDefault : .null }
    for _ in 0..<(try reader.count()) {
      let number = try reader.number()
      let value = try reader.value()
      if let field = fields[position][number] { values[field] = value }
    }
    // A field that has become required since then was given a value in all records.
    for field in filled[position] where values[field].isNull {
      if let fill = shape.columns[field].fill(after: written) { values[field] = fill }
    }
    return Record(values: values)
  }
}

extension RecordColumn {
  /// What an entry of the catalogue's revision `written` that has no value holds by now; nil for nothing.
  fileprivate func fill(after written: Int64) -> JSONValue? {
    fills.first { $0.revision > written }?.value
  }
}
