internal import MartletChangeFeed
internal import MartletJSON
internal import MartletModelSchema

/// A change before it has its offset: what participants of a transaction append.
struct DraftChange {
  enum Body {
    case record(kind: ChangeKind, model: Int, key: RecordKey, version: Int64, image: Record, old: [(Int, JSONValue)])
    case event(topic: String, payload: JSONValue)
  }

  var body: Body
}

/// Entries of the log in their binary form, and back into changes of the schema in force.
///
/// An entry names models and fields by the folder's own numbers, which are never used twice, and carries the catalogue's
/// revision: an old entry is read under a newer schema, or is a gap, but is never misread.
struct EntryCoder {
  private static let format: UInt8 = 1
  private static let endMark: UInt8 = 0x80

  private let shapes: [RecordShape]
  private let revision: Int64
  /// By the folder's model number: the position in `shapes`.
  private let models: [Int: Int]
  /// By position in `shapes`, by the folder's field number: the field's position.
  private let fields: [[Int: Int]]

  init(_ shapes: [RecordShape], revision: Int64) {
    self.shapes = shapes
    self.revision = revision
    models = Dictionary(shapes.indices.map { (shapes[$0].storedNumber, $0) }) { first, _ in first }
    fields = shapes.map { shape in
      Dictionary(shape.columns.indices.map { (shape.columns[$0].storedNumber, $0) }) { first, _ in first }
    }
  }

  // MARK: Writing

  /// Appends the entry of one change. `position` is its model's position in the shapes.
  func write(_ change: DraftChange, position: Int, endsTransaction: Bool, into writer: inout EntryWriter) {
    let mark = endsTransaction ? Self.endMark : 0
    writer.byte(Self.format)
    switch change.body {
    case .record(let kind, _, let key, let version, let image, let old):
      let shape = shapes[position]
      writer.byte(kind.rawValue | mark)
      writer.unsigned(UInt64(bitPattern: revision))
      writer.count(shape.storedNumber)
      writer.unsigned(UInt64(bitPattern: version))
      writer.count(key.values.count)
      for value in key.values { writer.value(value) }
      // Null is the absence of a value and takes no space.
      writer.count(image.values.reduce(0) { $0 + ($1.isNull ? 0 : 1) })
      for (field, value) in image.values.enumerated() where !value.isNull {
        writer.count(shape.columns[field].storedNumber)
        writer.value(value)
      }
      writer.count(old.count)
      for (field, value) in old {
        writer.count(shape.columns[field].storedNumber)
        writer.value(value)
      }
    case .event(let topic, let payload):
      writer.byte(ChangeKind.event.rawValue | mark)
      writer.text(topic)
      writer.value(payload)
    }
  }

  // MARK: Reading

  /// What an entry is under the schema in force.
  enum Reading {
    case change(Change)
    /// Its model is no longer there.
    case unknownModel
  }

  func read(_ bytes: [UInt8], offset: Int64) throws(StoreError) -> Reading {
    var reader = EntryReader(bytes)
    guard try reader.byte() == Self.format else {
      throw StoreError(.newerFormat, "log entry \(offset) has a newer format")
    }
    let head = try reader.byte()
    let endsTransaction = head & Self.endMark != 0
    guard let kind = ChangeKind(rawValue: head & ~Self.endMark) else { throw EntryReader.damaged }
    if kind == .event {
      let topic = try reader.text()
      let payload = try reader.value()
      return .change(Change(offset: offset, topic: topic, payload: payload, endsTransaction: endsTransaction))
    }
    let written = try reader.signedPattern()
    guard let position = models[try reader.number()] else { return .unknownModel }
    let version = try reader.signedPattern()
    var key: [JSONValue] = []
    for _ in 0..<(try reader.count()) { key.append(try reader.value()) }
    let image = try readImage(&reader, position, written)
    var old: [(field: Int, value: JSONValue)] = []
    for _ in 0..<(try reader.count()) {
      let number = try reader.number()
      let value = try reader.value()
      if let field = fields[position][number] { old.append((field, value)) }
    }
    return .change(
      Change(
        offset: offset, kind: kind, model: shapes[position].model, key: RecordKey(values: key), version: version,
        image: image, old: old, endsTransaction: endsTransaction))
  }

  private func readImage(_ reader: inout EntryReader, _ position: Int, _ written: Int64) throws(StoreError) -> Record {
    let shape = shapes[position]
    // A field younger than the entry had its default in that record ever since.
    var values = shape.columns.map { $0.addedRevision > written ? $0.defaultValue : .null }
    for _ in 0..<(try reader.count()) {
      let number = try reader.number()
      let value = try reader.value()
      if let field = fields[position][number] { values[field] = value }
    }
    return Record(values: values)
  }

  /// Whether the entry ends a transaction, from its first bytes alone.
  static func endsTransaction(_ bytes: [UInt8]) -> Bool {
    bytes.count > 1 && bytes[1] & endMark != 0
  }
}

extension EntryReader {
  /// A signed number that was written as its bit pattern, being positive almost always.
  mutating func signedPattern() throws(StoreError) -> Int64 {
    Int64(bitPattern: try unsigned())
  }
}
