/// Keeps the groups of a log where every node finds them. An authority appends each group here before it commits it
/// locally, so that no node acknowledges a write that another node's log lacks.
///
/// Calls come from the writer's executor and may wait for a network: the writer waits with them. An implementation
/// checks the term and the end of the log in the transaction that inserts the group; a lock alone elects, but does not
/// fence.
package protocol Ledger: AnyObject {
  /// Whether the ledger is the store's own log: it becomes durable with the local commit and not before it.
  var isEmbedded: Bool { get }

  /// Begins a term at the end of the log, which must be `point`. Terms with smaller ordinals can append no more.
  func begin(term: UInt64, ordinal: Int64, after point: LogPoint) -> LedgerAnswer

  /// Appends a group that follows `point`, which must be the end of the log, in a term that must be the newest.
  func append(_ group: LogGroup, after point: LogPoint, in term: UInt64) -> LedgerAnswer

  /// The groups after `offset`, whole and in order, until `bytes` of entries are reached: at least one when there is
  /// one.
  func groups(after offset: Int64, bytes: Int) throws(StoreError) -> [LogGroup]

  /// The point after which the kept groups begin, and the end of the log.
  func bounds() throws(StoreError) -> (first: LogPoint, last: LogPoint)

  /// The newest copy of a store from which a node without a usable folder starts; nil when none is kept.
  func newestSnapshot() throws(StoreError) -> LedgerSnapshot?
}

/// What came of an attempt to change a ledger.
package enum LedgerAnswer: Sendable, Equatable {
  case appended
  /// Nothing was changed: another node is the authority, or the log has another end.
  case deposed(reason: String)
  /// The change may have been made or not, as after a connection that was lost before the answer.
  case unknown(reason: String)

  /// - Throws: `notAuthority` or `outcomeUnknown`, unless the change was made.
  func check() throws(StoreError) {
    switch self {
    case .appended: break
    case .deposed(let reason):
      throw StoreError(.notAuthority, "another node is the authority of this log: \(reason)")
    case .unknown(let reason):
      throw StoreError(
        .outcomeUnknown, "whether the write is in the log is not known until the log is read again: \(reason)")
    }
  }
}

/// A point of a log: an offset, and the running checksum over everything up to it. Two logs with an equal point are
/// equal up to it.
package struct LogPoint: Sendable, Equatable {
  package var offset: Int64
  package var checksum: UInt64

  package init(offset: Int64, checksum: UInt64) {
    self.offset = offset
    self.checksum = checksum
  }

  /// The point of a log that has held nothing.
  package static let empty = LogPoint(offset: 0, checksum: RunningChecksum.empty.value)
}

/// A copy of a store, as `martlet backup` makes it, and the point of the log that it holds.
package struct LedgerSnapshot: Sendable, Equatable {
  package var point: LogPoint
  /// Where the copy is; its form is the implementation's.
  package var location: String

  package init(point: LogPoint, location: String) {
    self.point = point
    self.location = location
  }
}
