internal import MartletSQLite

/// The ledger of a store without further nodes: its own log. A group that has been written to the log in the open
/// transaction is in the ledger as soon as that transaction commits. Confined to the writer's executor.
final class EmbeddedLedger: Ledger {
  private let file: StoreFile

  init(_ file: StoreFile) {
    self.file = file
  }

  var isEmbedded: Bool { true }

  func begin(term: UInt64, ordinal: Int64, after point: LogPoint) -> LedgerAnswer { .appended }

  func append(_ group: LogGroup, after point: LogPoint, in term: UInt64) -> LedgerAnswer { .appended }

  func groups(after offset: Int64, bytes: Int) throws(StoreError) -> [LogGroup] {
    do {
      if let groups = try file.log.groups(after: offset, bytes: bytes) { return groups }
      throw StoreError(.notFound, "the log has no entry at offset \(offset) that groups could continue")
    } catch {
      throw StoreError(reading: error)
    }
  }

  func bounds() throws(StoreError) -> (first: LogPoint, last: LogPoint) {
    let position = file.folded.position
    do {
      // A log that an earlier version swept lacks the row before the first one; no checksum is known then.
      let before = position.first - 1
      let checksum = try file.log.checksum(at: before)?.value ?? 0
      return (LogPoint(offset: before, checksum: checksum), position.point)
    } catch {
      throw StoreError(error)
    }
  }

  /// The folder itself is what a restart begins with.
  func newestSnapshot() -> LedgerSnapshot? { nil }
}

extension LogTable.Position {
  /// The end of the log.
  var point: LogPoint { LogPoint(offset: head, checksum: checksum.value) }
}

extension StoreError {
  /// An error of a part of the store.
  init(reading error: any Error) {
    switch error {
    case let error as StoreError: self = error
    case let error as SQLiteError: self.init(error)
    default: self = .unknown(error)
    }
  }
}
