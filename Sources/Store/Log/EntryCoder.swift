internal import MartletChangeFeed
internal import MartletModelSchema

/// Entries of the log in their binary form, and back into changes of the schema in force.
///
/// An entry is a byte for its format, a byte for its kind with the end-of-transaction mark, and a body that the kind's
/// own coder writes and reads.
struct EntryCoder {
  private static let format: UInt8 = 1
  private static let endMark: UInt8 = 0x80
  /// The kind of an event; kinds of record changes are their raw values.
  private static let eventKind: UInt8 = 3

  private let records: RecordCoder

  init(_ shapes: [RecordShape], revision: Int64) {
    records = RecordCoder(shapes, revision: revision)
  }

  // MARK: Writing

  /// Appends the entry of one change.
  func write(_ body: Change.Body, endsTransaction: Bool, into writer: inout EntryWriter) throws(StoreError) {
    let mark = endsTransaction ? Self.endMark : 0
    writer.byte(Self.format)
    switch body {
    case .record(let change):
      writer.byte(change.kind.rawValue | mark)
      try records.write(change, into: &writer)
    case .event(let event):
      writer.byte(Self.eventKind | mark)
      EventCoder.write(event, into: &writer)
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
    let kind = head & ~Self.endMark
    let body: Change.Body
    if kind == Self.eventKind {
      body = .event(try EventCoder.read(&reader))
    } else {
      guard let kind = ChangeKind(rawValue: kind) else { throw EntryReader.damaged }
      guard let change = try records.read(kind, &reader) else { return .unknownModel }
      body = .record(change)
    }
    return .change(Change(offset: offset, endsTransaction: head & Self.endMark != 0, body: body))
  }

  /// Whether the entry ends a transaction, from its first bytes alone.
  static func endsTransaction(_ bytes: [UInt8]) -> Bool {
    bytes.count > 1 && bytes[1] & endMark != 0
  }
}
