internal import MartletChangeFeed
internal import MartletJSON
internal import MartletModelSchema
internal import MartletSQLite
internal import MartletVocabulary

/// Remembers what became of numbered writes, so that a resend is answered and not applied again.
///
/// Refusals are remembered too: a write has one fate, whenever its answer arrives.
final class WriteNumbers {
  private let database: Database
  private let select: Statement
  private let insert: Statement
  /// By the folder's model number: the model's number in the schema in force.
  private let current: [Int: Int]
  private let stored: [Int: Int]
  /// How many outcomes are remembered, counted once and then kept; a group that failed may leave it a little high.
  private var count: Int64?
  /// Groups between two looks when few writes are numbered.
  private static let groupsBetweenLooks = 64
  private var groupsUntilLook = 0
  private var rememberedSinceLook = 0
  /// Whether the last look left outcomes that are to be forgotten.
  private(set) var isBehind = false

  init(_ database: Database, _ shapes: [RecordShape]) throws(SQLiteError) {
    self.database = database
    select = try database.prepare("SELECT result FROM martlet_writes WHERE client = ? AND number = ?")
    insert = try database.prepare("INSERT INTO martlet_writes(client, number, at, result) VALUES(?, ?, ?, ?)")
    current = Dictionary(shapes.map { ($0.storedNumber, $0.model) }) { first, _ in first }
    stored = Dictionary(shapes.map { ($0.model, $0.storedNumber) }) { first, _ in first }
  }

  /// What became of the write, if it is remembered. Records come without their values.
  func outcome(of id: WriteID) throws -> Result<Receipt, StoreError>? {
    try select.bind(1, text: id.client)
    try select.bind(2, id.number)
    guard try select.step() else { return nil }
    defer { select.reset() }
    var reader = EntryReader(select.bytes(0))
    if try reader.byte() == 1 {
      let code = StoreError.Code(refusal: try reader.byte())
      return .failure(StoreError(code, try reader.text()))
    }
    let first = try reader.signedPattern()
    let count = try reader.number()
    var receipt = Receipt(writeID: id, outcomes: [], offsets: nil, isRepeat: true)
    // Numbers from the disk are not trusted with arithmetic that stops the process.
    guard first >= 0, first < 1 << 62, count < 1 << 32 else { throw EntryReader.damaged }
    if count > 0 { receipt.offsets = first...(first + Int64(count) - 1) }
    for _ in 0..<(try reader.count()) {
      let kind = ChangeKind(rawValue: try reader.byte())
      let model = current[try reader.number()]
      let version = try reader.signedPattern()
      var key: [JSONValue] = []
      for _ in 0..<(try reader.count()) { key.append(try reader.value()) }
      guard let kind, let model else { continue }
      receipt.outcomes.append(
        .record(WrittenRecord(kind: kind, model: model, key: RecordKey(values: key), version: version, record: nil)))
    }
    return .success(receipt)
  }

  func remember(_ outcome: Result<Receipt, StoreError>, of id: WriteID, at: Int64) throws {
    var writer = EntryWriter()
    switch outcome {
    case .success(let receipt):
      writer.byte(0)
      writer.unsigned(UInt64(bitPattern: receipt.offsets?.lowerBound ?? 0))
      writer.count(receipt.offsets?.count ?? 0)
      writer.count(receipt.records.count)
      for record in receipt.records {
        writer.byte(record.kind.rawValue)
        writer.count(stored[record.model] ?? 0)
        writer.unsigned(UInt64(bitPattern: record.version))
        writer.count(record.key.values.count)
        for value in record.key.values { writer.value(value) }
      }
    case .failure(let error):
      writer.byte(1)
      writer.byte(error.code.refusal)
      writer.text(error.message)
    }
    try insert.bind(1, text: id.client)
    try insert.bind(2, id.number)
    try insert.bind(3, at)
    try insert.bind(4, blob: writer.bytes)
    try insert.run()
    count = count.map { $0 + 1 }
    rememberedSinceLook += 1
  }

  // MARK: Forgetting

  /// Looks again with the next call, however recent the last look was.
  func lookNow() { groupsUntilLook = 0 }

  /// Forgets outcomes that are too old or too many, at least twice as many as were remembered since the last look.
  func forgetIfDue(at: Int64, _ limits: StoreLimits) throws(SQLiteError) {
    groupsUntilLook -= 1
    guard isBehind || groupsUntilLook < 0 || rememberedSinceLook >= limits.forgottenAtOnce else { return }
    let largest = max(limits.forgottenAtOnce, 2 * rememberedSinceLook)
    groupsUntilLook = Self.groupsBetweenLooks
    rememberedSinceLook = 0
    let oldest = at - limits.writeNumberAge.wholeNanoseconds / 1_000_000
    isBehind = try forget(before: oldest, keeping: limits.writeNumbers, count: largest)
  }

  /// Forgets at most `largest` outcomes from before `oldest`, or the oldest ones when there are more than `keeping`;
  /// returns whether more of them may be left.
  private func forget(before oldest: Int64, keeping: Int64, count largest: Int) throws(SQLiteError) -> Bool {
    let delete = try database.statement(
      """
      DELETE FROM martlet_writes WHERE (client, number) IN (
        SELECT client, number FROM martlet_writes WHERE at < ? ORDER BY at LIMIT ?)
      """)
    try delete.bind(1, oldest)
    try delete.bind(2, Int64(largest))
    try delete.run()
    let expired = database.changes
    var remembered: Int64
    if let count { remembered = count - Int64(expired) } else { remembered = try counted() }
    defer { count = remembered }
    guard remembered > keeping, expired < largest else { return expired == largest }
    let excess = min(remembered - keeping, Int64(largest - expired))
    try delete.bind(1, Int64.max)
    try delete.bind(2, excess)
    try delete.run()
    remembered -= Int64(database.changes)
    return remembered > keeping
  }

  private func counted() throws(SQLiteError) -> Int64 {
    let all = try database.statement("SELECT count(*) FROM martlet_writes")
    defer { all.reset() }
    return try all.step() ? all.int64(0) : 0
  }
}

extension StoreError.Code {
  /// The byte a remembered refusal is kept as.
  var refusal: UInt8 {
    switch self {
    case .conditionFailed: 1
    case .versionMismatch: 2
    case .alreadyExists: 3
    case .notFound: 4
    case .notUnique: 5
    case .invalid: 6
    case .aborted: 7
    case .invalidToken, .tooManyRows, .overloaded, .deadline, .diskFull, .closed, .locked, .noStore, .newerFormat,
      .migration, .filesGone, .failed:
      0
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
    default: self = .aborted
    }
  }

  /// Whether the refusal is the write's own fault and final, so that a resend must be answered alike.
  var isFinalRefusal: Bool { refusal != 0 }
}
