internal import MartletChangeFeed
internal import MartletModels

/// Entries of the log in their binary form, and back into bodies of the schema in force.
///
/// An entry is a byte for its format, a byte for its kind with the end-of-transaction mark, and a body that the kind's
/// own coder writes and reads. Format 1 had changes of records and events only, in the same form as now.
struct EntryCoder {
  private enum Kind {
    // 0, 1 and 2 are the raw values of `ChangeKind`.
    static let event: UInt8 = 3
    static let outcome: UInt8 = 4
    static let term: UInt8 = 5
    static let schema: UInt8 = 6
    static let horizon: UInt8 = 7
    static let outcomeRest: UInt8 = 8
    static let tree: UInt8 = 9
    static let treeRest: UInt8 = 10
    static let deferredGranted: UInt8 = 11
    static let deferredRemoved: UInt8 = 12
    static let definition: UInt8 = 13
  }

  private static let format: UInt8 = 2
  /// What an earlier version does not know has a format of its own, so that such a version names the reason.
  private static let newestFormat: UInt8 = 4
  /// Changes of the tree as they were first written: each row with its whole path.
  private static let repeatedPathsFormat: UInt8 = 3
  private static let oldestFormat: UInt8 = 1
  private static let endMark: UInt8 = 0x80
  /// Bytes before the body.
  static let headSize = 2

  let records: RecordCoder

  init(_ shapes: [RecordShape], revision: Int64) {
    records = RecordCoder(shapes, revision: revision)
  }

  // MARK: Writing

  /// An entry in its binary form.
  func bytes(_ body: EntryBody, endsTransaction: Bool) throws(StoreError) -> [UInt8] {
    var writer = EntryWriter()
    writer.byte(Self.kind(of: body) >= Kind.tree ? Self.newestFormat : Self.format)
    writer.byte(Self.kind(of: body) | (endsTransaction ? Self.endMark : 0))
    switch body {
    case .change(.record(let change)): try records.write(change, into: &writer)
    case .change(.event(let event)): EventCoder.write(event, into: &writer)
    case .change(.tree(let change)), .treeRest(let change): TreeCoder.write(change, into: &writer)
    case .outcome(let outcome): OutcomeCoder.write(outcome, into: &writer)
    case .outcomeRest(let rest): OutcomeCoder.write(rest, into: &writer)
    case .term(let term):
      writer.unsigned(UInt64(bitPattern: term.ordinal))
      writer.fixed(term.term)
      writer.unsigned(UInt64(bitPattern: term.keptFrom))
    case .schema(let change): SchemaCoder.write(change, into: &writer)
    case .horizon(let horizon):
      writer.unsigned(UInt64(bitPattern: horizon.firstOffset))
      writer.unsigned(UInt64(bitPattern: horizon.clientsBefore))
      writer.unsigned(UInt64(bitPattern: horizon.tombstonesBefore))
    case .deferred(let entry): DeferredCoder.write(entry, into: &writer)
    case .definition(let definition): DefinitionCoder.write(definition, into: &writer)
    }
    return writer.bytes
  }

  /// A body in its binary form, and its parts when it is larger than an entry of its kind may be.
  ///
  /// - Parameter coded: Its binary form without the mark of a transaction's end, where it has been coded before.
  func prepared(
    _ body: EntryBody, coded: [UInt8]?, endsTransaction: Bool, _ limits: StoreLimits
  ) throws(StoreError) -> PreparedEntries {
    var entry: [UInt8]
    if let coded {
      entry = coded
      if endsTransaction { Self.markEnd(&entry) }
    } else {
      entry = try bytes(body, endsTransaction: endsTransaction)
    }
    guard case .change(.tree(let change)) = body, entry.count > limits.treeBytes else {
      return .one(entry)
    }
    let changes = TreeCoder.parts(change, largest: limits.treeBytes)
    var parts: [PreparedEntries.Part] = []
    for (index, part) in changes.enumerated() {
      let body = index == 0 ? EntryBody.change(.tree(part)) : .treeRest(part)
      let bytes = try bytes(body, endsTransaction: endsTransaction && index == changes.count - 1)
      parts.append(PreparedEntries.Part(body: body, bytes: bytes))
    }
    return parts.isEmpty ? .one(entry) : .parts(parts)
  }

  private static func kind(of body: EntryBody) -> UInt8 {
    switch body {
    case .change(.record(let change)): change.kind.rawValue
    case .change(.event): Kind.event
    case .change(.tree): Kind.tree
    case .treeRest: Kind.treeRest
    case .outcome: Kind.outcome
    case .outcomeRest: Kind.outcomeRest
    case .term: Kind.term
    case .schema: Kind.schema
    case .horizon: Kind.horizon
    case .deferred(.granted): Kind.deferredGranted
    case .deferred(.removed): Kind.deferredRemoved
    case .definition: Kind.definition
    }
  }

  // MARK: Reading

  /// An entry under the schema in force; nil when it changed a record of a model that is no longer there.
  func entry(_ bytes: [UInt8], offset: Int64) throws(StoreError) -> LogEntry? {
    var reader = EntryReader(bytes)
    let format = try reader.byte()
    guard (Self.oldestFormat...Self.newestFormat).contains(format) else {
      throw StoreError(.newerFormat, "log entry \(offset) has a newer format")
    }
    let head = try reader.byte()
    let kind = head & ~Self.endMark
    let body: EntryBody
    switch kind {
    case Kind.event: body = .change(.event(try EventCoder.read(&reader)))
    case Kind.tree:
      body = .change(.tree(try TreeCoder.read(&reader, repeatsPaths: format == Self.repeatedPathsFormat)))
    case Kind.treeRest: body = .treeRest(try TreeCoder.read(&reader, repeatsPaths: false))
    case Kind.outcome: body = .outcome(try OutcomeCoder.read(&reader))
    case Kind.outcomeRest: body = .outcomeRest(try OutcomeCoder.readRest(&reader))
    case Kind.term:
      body = .term(
        TermStart(ordinal: try reader.signedPattern(), term: try reader.fixed(), keptFrom: try reader.signedPattern()))
    case Kind.schema: body = .schema(try SchemaCoder.read(&reader))
    case Kind.horizon:
      var horizon = Horizon()
      horizon.firstOffset = try reader.signedPattern()
      horizon.clientsBefore = try reader.signedPattern()
      horizon.tombstonesBefore = try reader.signedPattern()
      body = .horizon(horizon)
    case Kind.deferredGranted: body = .deferred(try DeferredCoder.readGranted(&reader))
    case Kind.deferredRemoved: body = .deferred(try DeferredCoder.readRemoved(&reader))
    case Kind.definition: body = .definition(try DefinitionCoder.read(&reader))
    default:
      guard let kind = ChangeKind(rawValue: kind) else { throw EntryReader.damaged }
      guard let change = try records.read(kind, &reader) else { return nil }
      body = .change(.record(change))
    }
    return LogEntry(offset: offset, endsTransaction: Self.endsTransaction(bytes), body: body)
  }

  /// What a subscriber can see of an entry.
  enum Reading {
    case change(Change)
    /// A further part of the change before it.
    case rest(TreeChange)
    /// An entry for the fold only.
    case invisible
    /// A change of a record whose model, by the folder's number, is no longer there.
    case unknownModel(Int)
  }

  func read(_ bytes: [UInt8], offset: Int64, at time: Int64) throws(StoreError) -> Reading {
    // Entries for the fold are skipped by their kind: decoding a schema for each reader would be waste.
    if bytes.count > 1, bytes[0] > Self.oldestFormat {
      let kind = bytes[1] & ~Self.endMark
      if kind > Kind.event, kind != Kind.tree, kind != Kind.treeRest { return .invisible }
    }
    guard let entry = try entry(bytes, offset: offset) else {
      var reader = EntryReader(Array(bytes.dropFirst(Self.headSize)))
      return .unknownModel(try RecordCoder.modelNumber(&reader))
    }
    switch entry.body {
    case .change(let body):
      return .change(Change(offset: offset, endsTransaction: entry.endsTransaction, body: body, time: time))
    case .treeRest(let rest): return .rest(rest)
    case .outcome, .outcomeRest, .term, .schema, .horizon, .deferred, .definition: return .invisible
    }
  }

  /// What the entry did to a record; nil when it is about something else.
  static func changeKind(_ bytes: [UInt8]) -> ChangeKind? {
    bytes.count > 1 ? ChangeKind(rawValue: bytes[1] & ~endMark) : nil
  }

  /// Whether the entry begins a term, from its first bytes alone.
  static func isTerm(_ bytes: [UInt8]) -> Bool {
    bytes.count > 1 && bytes[0] > oldestFormat && bytes[1] & ~endMark == Kind.term
  }

  /// Marks an entry as the last one of its transaction.
  static func markEnd(_ bytes: inout [UInt8]) {
    if bytes.count > 1 { bytes[1] |= endMark }
  }

  /// Whether the entry ends a transaction, from its first bytes alone.
  static func endsTransaction(_ bytes: [UInt8]) -> Bool {
    bytes.count > 1 && bytes[1] & endMark != 0
  }
}

/// The entries that one body becomes, before they have offsets: one, but for large changes of the tree.
enum PreparedEntries {
  /// A part of a body, and its binary form.
  struct Part {
    let body: EntryBody
    let bytes: [UInt8]
  }

  /// The body's binary form.
  case one([UInt8])
  case parts([Part])

  /// How many entries there are.
  var count: Int {
    switch self {
    case .one: 1
    case .parts(let parts): parts.count
    }
  }
}
