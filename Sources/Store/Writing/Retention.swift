internal import MartletSQLite
internal import MartletVocabulary

/// Decides when the horizon moves on: what is too old or too much expires with an entry of the log, everywhere at once.
///
/// A look finds the new horizon by point lookups: offsets are dense, and times and sums grow with them, so it costs the
/// same for transactions of any size. Confined to the writer's executor.
final class Retention {
  /// Groups between two looks when few entries are written, so that a look costs each group next to nothing.
  private static let groupsBetweenLooks = 64

  private let file: StoreFile
  private let limits: StoreLimits
  private var groupsUntilLook = 0
  private var headAtLook: Int64 = 0

  init(_ file: StoreFile, _ limits: StoreLimits) {
    self.file = file
    self.limits = limits
    headAtLook = file.folded.position.head
  }

  /// Looks with the next call, however recent the last look was.
  func lookAgain() {
    groupsUntilLook = 0
    headAtLook = min(headAtLook, file.folded.position.head)
  }

  /// The horizon for a group written at `time`; nil when nothing more has expired, or when no look is due.
  ///
  /// The group in progress never expires with its own horizon, so that the log always has its newest group.
  func next(at time: Int64) throws -> Horizon? {
    groupsUntilLook -= 1
    let position = file.folded.position
    guard
      groupsUntilLook < 0 || position.head - headAtLook >= Int64(limits.forgottenAtOnce)
        || position.bytes > limits.logBytes
    else { return nil }
    groupsUntilLook = Self.groupsBetweenLooks
    headAtLook = position.head
    var horizon = file.folded.horizon
    horizon.firstOffset = max(horizon.firstOffset, try firstOffset(position, time))
    try expireClients(&horizon, time)
    let tombstones = time - Self.milliseconds(limits.tombstoneAge)
    if try file.tombstones.holdsTombstones(before: tombstones, horizon) { horizon.tombstonesBefore = tombstones }
    return horizon == file.folded.horizon ? nil : horizon
  }

  private func firstOffset(_ position: LogTable.Position, _ time: Int64) throws(SQLiteError) -> Int64 {
    let last = position.head + 1
    // A horizon alone is not worth another one.
    guard position.first < position.head else { return position.first }
    let since = time - Self.milliseconds(limits.logAge)
    var first = try file.log.firstOffset(writtenSince: since, position, atMost: last)
    if position.bytes > limits.logBytes {
      // A little more than needed, so that a full log does not take a horizon with each group.
      let kept = limits.logBytes - limits.logBytes / 32
      first = max(first, try file.log.firstOffset(keeping: kept, position, atMost: last))
    }
    return first
  }

  private func expireClients(_ horizon: inout Horizon, _ time: Int64) throws(SQLiteError) {
    let clients = time - Self.milliseconds(limits.tombstoneAge)
    if try file.outcomes.holdsClients(before: clients, horizon) { horizon.clientsBefore = clients }
    if let newest = try file.outcomes.time(afterNewest: limits.writeClients), newest >= horizon.clientsBefore {
      horizon.clientsBefore = newest + 1
    }
  }

  private static func milliseconds(_ duration: Duration) -> Int64 {
    duration.wholeNanoseconds / 1_000_000
  }
}
