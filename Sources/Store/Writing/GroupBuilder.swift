internal import MartletChangeFeed

/// The group in progress: its entries as they will be in the log, and the changes that subscribers will see.
struct GroupBuilder {
  let first: Int64
  let term: UInt64
  let time: Int64
  let checksumBefore: UInt64
  /// Entries that were coded before, of a large write; they are first.
  private(set) var coded = CodedEntries()
  private(set) var entries: [[UInt8]] = []
  private(set) var changes: [Change] = []

  init(first: Int64, term: UInt64, time: Int64, checksumBefore: UInt64) {
    self.first = first
    self.term = term
    self.time = time
    self.checksumBefore = checksumBefore
  }

  /// Makes room for the entries of this many writes.
  mutating func reserve(_ writes: Int) {
    entries.reserveCapacity(writes)
    changes.reserveCapacity(writes)
  }

  /// The offset that the next entry gets.
  var next: Int64 { first + Int64(coded.count + entries.count) }

  var isEmpty: Bool { coded.isEmpty && entries.isEmpty }

  /// The group; nil without entries. For the folder's own log it lacks those of `coded`.
  func group(isWhole: Bool = true) -> LogGroup? {
    if isEmpty { return nil }
    let all = isWhole && !coded.isEmpty ? (0..<coded.count).map { coded[$0] } + entries : entries
    return LogGroup(first: first, term: term, time: time, checksumBefore: checksumBefore, entries: all)
  }

  /// Appends an entry, checked against the bound of its kind, and returns it with its offset.
  @discardableResult
  mutating func append(
    _ body: EntryBody, endsTransaction: Bool, _ coder: EntryCoder, _ limits: StoreLimits
  ) throws(StoreError) -> LogEntry {
    let bytes = try coder.bytes(body, endsTransaction: endsTransaction)
    let offset = try append(bytes, of: body, coder, limits)
    return LogEntry(offset: offset, endsTransaction: endsTransaction, body: body)
  }

  /// Appends the entries that were prepared of a body, with the same mark of the transaction's end. Subscribers get a
  /// change whole, at its last entry's offset.
  mutating func append(
    _ body: EntryBody, as prepared: PreparedEntries, endsTransaction: Bool, _ coder: EntryCoder, _ limits: StoreLimits
  ) throws(StoreError) {
    switch prepared {
    case .one(let bytes): try append(bytes, of: body, coder, limits)
    case .parts(let parts): for part in parts { try append(part.bytes, of: part.body, coder, limits) }
    }
    guard case .change(let change) = body else { return }
    changes.append(Change(offset: next - 1, endsTransaction: endsTransaction, body: change, time: time))
  }

  /// Takes one transaction, whose entries were coded and checked before, as the first of the group.
  ///
  /// Nothing is copied: a reference more to each of thousands of records takes milliseconds.
  mutating func begin(with placed: consuming [Change], entries coded: CodedEntries) {
    precondition(isEmpty && placed.count == coded.count, "it is the group's first, an entry for each change")
    for index in placed.indices {
      placed[index].place(at: first + Int64(index), endsTransaction: index == placed.count - 1)
    }
    self.coded = coded
    changes = placed
  }

  /// Appends one entry, and returns its offset.
  @discardableResult
  private mutating func append(
    _ bytes: [UInt8], of body: EntryBody, _ coder: EntryCoder, _ limits: StoreLimits
  ) throws(StoreError) -> Int64 {
    let (name, largest) = Self.bound(of: body, limits)
    let size = try bytes.count <= largest ? bytes.count : Self.size(of: body, bytes.count, coder)
    guard size <= largest else {
      throw StoreError(.invalid, "\(name) of \(size) bytes is larger than the limit of \(largest)")
    }
    entries.append(bytes)
    return next - 1
  }

  /// The bytes of an entry that its bound is for: of a record's change those of the record it makes. What the record
  /// was before has been accepted already; it must not keep the record from being changed, or deleted.
  private static func size(of body: EntryBody, _ whole: Int, _ coder: EntryCoder) throws(StoreError) -> Int {
    guard case .change(.record(var change)) = body else { return whole }
    switch change.kind {
    case .create: return whole
    case .delete: return 0
    case .update:
      change.old = []
      return try coder.bytes(.change(.record(change)), endsTransaction: false).count
    }
  }

  private static func bound(of body: EntryBody, _ limits: StoreLimits) -> (name: String, bytes: Int) {
    switch body {
    case .change(.record): ("a record", limits.recordBytes)
    case .change(.event): ("an event", limits.eventBytes)
    // Its writer has divided it: what is larger is one leaf.
    case .change(.tree), .treeRest: ("a leaf of the tree", limits.treeBytes)
    // Its writer has divided it by `outcomeBytes`.
    case .outcome, .outcomeRest: ("the outcome of a numbered write", .max)
    case .schema: ("a schema change", limits.schemaBytes)
    case .deferred: ("a deferred write", limits.deferredBytes)
    case .definition: ("a definition", limits.definitionBytes)
    // A few numbers each.
    case .term: ("a term", 64)
    case .horizon: ("a horizon", 64)
    }
  }

  // MARK: Taking back

  /// A moment to go back to.
  struct Mark {
    fileprivate var entries: Int
    fileprivate var changes: Int
  }

  var mark: Mark { Mark(entries: entries.count, changes: changes.count) }

  mutating func truncate(to mark: Mark) {
    entries.removeLast(entries.count - mark.entries)
    changes.removeLast(changes.count - mark.changes)
  }

  /// The entry at an offset of this group.
  func bytes(at offset: Int64) -> [UInt8]? {
    guard offset >= first, offset < next else { return nil }
    let index = Int(offset - first)
    return index < coded.count ? coded[index] : entries[index - coded.count]
  }
}
