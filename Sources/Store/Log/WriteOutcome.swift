internal import MartletChangeFeed
internal import MartletModels
internal import MartletVocabulary

/// The outcome of a numbered write, as the log keeps it: a resend gets the same result and is not applied again.
///
/// Refusals are outcomes too: a write has one result, whenever its answer arrives.
struct WriteOutcome {
  var id: WriteNumber
  /// The client's outcomes up to this number are forgotten with this entry.
  var acknowledged: Int64
  /// The rest of the body, which `OutcomeCoder` reads under the schema of the day of the resend.
  var result: [UInt8]
}

/// A further part of the outcome of a write with many changes.
struct WriteOutcomeRest {
  var id: WriteNumber
  var result: [UInt8]
}

extension WriteOutcome {
  /// The outcome as bodies of entries whose results have at most `bytes` bytes each.
  func split(_ bytes: Int) -> [EntryBody] {
    guard result.count > bytes, bytes > 0 else { return [.outcome(self)] }
    var first = self
    first.result = Array(result.prefix(bytes))
    var bodies: [EntryBody] = [.outcome(first)]
    var rest = result.dropFirst(bytes)
    while !rest.isEmpty {
      bodies.append(.outcomeRest(WriteOutcomeRest(id: id, result: Array(rest.prefix(bytes)))))
      rest = rest.dropFirst(bytes)
    }
    return bodies
  }
}

/// The bodies of outcomes in the log: whose write it is, then its result.
///
/// A result names models by the folder's numbers, so it can be folded without a schema and read under a newer one.
struct OutcomeCoder {
  /// By the folder's model number: the model's number in the schema in force.
  private let current: [Int: Int]
  private let stored: [Int: Int]

  init(_ shapes: [RecordShape]) {
    current = Dictionary(shapes.map { ($0.storedNumber, $0.model) }) { first, _ in first }
    stored = Dictionary(shapes.map { ($0.model, $0.storedNumber) }) { first, _ in first }
  }

  // MARK: Bodies

  static func write(_ outcome: WriteOutcome, into writer: inout EntryWriter) {
    writer.text(outcome.id.identity)
    writer.text(outcome.id.client)
    writer.unsigned(UInt64(bitPattern: outcome.id.number))
    writer.unsigned(UInt64(bitPattern: outcome.acknowledged))
    writer.bytes.append(contentsOf: outcome.result)
  }

  static func write(_ rest: WriteOutcomeRest, into writer: inout EntryWriter) {
    writer.text(rest.id.identity)
    writer.text(rest.id.client)
    writer.unsigned(UInt64(bitPattern: rest.id.number))
    writer.bytes.append(contentsOf: rest.result)
  }

  static func readRest(_ reader: inout EntryReader) throws(StoreError) -> WriteOutcomeRest {
    let identity = try reader.text()
    let client = try reader.text()
    let number = try reader.signedPattern()
    return WriteOutcomeRest(
      id: WriteNumber(client: client, number: number, identity: identity), result: reader.rest())
  }

  static func read(_ reader: inout EntryReader) throws(StoreError) -> WriteOutcome {
    let identity = try reader.text()
    let client = try reader.text()
    let number = try reader.signedPattern()
    let acknowledged = try reader.signedPattern()
    return WriteOutcome(
      id: WriteNumber(client: client, number: number, identity: identity), acknowledged: acknowledged,
      result: reader.rest()
    )
  }

  // MARK: Results

  private enum Tag {
    static let applied: UInt8 = 0
    static let refused: UInt8 = 1
    static let record: UInt8 = 0
    static let event: UInt8 = 1
    static let tree: UInt8 = 2
  }

  /// The result of a write that was applied.
  func applied(_ outcomes: [Receipt.Outcome]) -> [UInt8] {
    var writer = EntryWriter()
    writer.byte(Tag.applied)
    writer.count(outcomes.count)
    for outcome in outcomes {
      switch outcome {
      case .event: writer.byte(Tag.event)
      case .tree: writer.byte(Tag.tree)
      case .record(let record):
        writer.byte(Tag.record)
        writer.byte(record.kind.rawValue)
        writer.count(stored[record.model] ?? 0)
        writer.unsigned(UInt64(bitPattern: record.version))
        writer.key(record.key)
      }
    }
    return writer.bytes
  }

  /// The result of a write that was refused for good; nil when the same write may succeed later.
  ///
  /// A message longer than `largestMessage` bytes is cut at a character.
  func refused(_ error: StoreError, largestMessage: Int) -> [UInt8]? {
    guard let code = error.code.refusal else { return nil }
    var writer = EntryWriter()
    writer.byte(Tag.refused)
    writer.byte(code)
    writer.text(error.message.cut(toBytes: largestMessage))
    writer.flag(error.conflict != nil)
    if let conflict = error.conflict {
      writer.count(stored[conflict.model] ?? 0)
      writer.unsigned(UInt64(bitPattern: conflict.version))
      writer.key(conflict.key)
    }
    return writer.bytes
  }

  /// A result as the answer to a resend. `offset` is the outcome's; the write's changes follow it. Records come without
  /// their values, and records of models that are no longer there do not come.
  func receipt(_ result: [UInt8], of id: WriteNumber, offset: Int64) throws(StoreError) -> Result<Receipt, StoreError> {
    var reader = EntryReader(result)
    if try reader.byte() == Tag.refused {
      var error = StoreError(StoreError.Code(refusal: try reader.byte()), try reader.text())
      if try reader.flag() {
        let model = current[try reader.number()]
        let version = try reader.signedPattern()
        let key = try reader.key()
        error.conflict = model.map { StoreError.Conflict(model: $0, key: key, version: version) }
      }
      return .failure(error)
    }
    var receipt = Receipt(writeNumber: id, outcomes: [], offsets: nil, isRepeat: true)
    let count = try reader.count()
    guard offset < 1 << 62 else { throw EntryReader.damaged }
    if count > 0 { receipt.offsets = (offset + 1)...(offset + Int64(count)) }
    for _ in 0..<count {
      let tag = try reader.byte()
      guard tag == Tag.record else {
        receipt.outcomes.append(tag == Tag.tree ? .tree : .event)
        continue
      }
      guard let kind = ChangeKind(rawValue: try reader.byte()) else { throw EntryReader.damaged }
      let model = current[try reader.number()]
      let version = try reader.signedPattern()
      let key = try reader.key()
      guard let model else { continue }
      receipt.outcomes.append(
        .record(WrittenRecord(kind: kind, model: model, key: key, version: version, record: nil)))
    }
    return .success(receipt)
  }
}

extension StoreError.Code {
  /// The byte a refusal is kept as; nil for one that is not final.
  var refusal: UInt8? {
    switch self {
    case .conditionFailed: 1
    case .versionMismatch: 2
    case .alreadyExists: 3
    case .notFound: 4
    case .notUnique: 5
    case .invalid: 6
    case .aborted: 7
    case .referenced: 8
    case .forbidden: 9
    case .invalidToken, .tooManyRows, .outcomeForgotten, .outcomeUnknown, .notAuthority, .overloaded, .deadline,
      .diskFull, .closed,
      .locked, .noStore, .filesGone, .newerFormat, .migration, .diverged, .damaged, .failed:
      nil
    }
  }

  init(refusal: UInt8) {
    switch refusal {
    case 1: self = .conditionFailed
    case 2: self = .versionMismatch
    case 3: self = .alreadyExists
    case 4: self = .notFound
    case 5: self = .notUnique
    case 6: self = .invalid
    case 8: self = .referenced
    case 9: self = .forbidden
    default: self = .aborted
    }
  }
}

extension String {
  /// The longest prefix of whole characters that takes at most `bytes` bytes.
  fileprivate func cut(toBytes bytes: Int) -> String {
    guard utf8.count > bytes else { return self }
    var size = 0
    var end = startIndex
    for character in self {
      size += character.utf8.count
      if size > bytes { break }
      end = index(after: end)
    }
    return String(self[..<end])
  }
}
