import MartletRuntime
import MartletStore

/// A ledger in memory whose answers the test scripts. It outlives the stores that append to it.
final class ScriptedLedger: Ledger, Sendable {
  /// What the next attempt to append comes to.
  enum Step {
    /// Keeps the group and says so.
    case append
    /// Refuses the group.
    case depose
    /// Keeps the group or loses it, and says neither.
    case lose(keeping: Bool)
  }

  struct Kept {
    var groups: [LogGroup] = []
    var term: UInt64 = 0
    var ordinal: Int64 = 0
    /// Taken from the front; without one, groups are appended.
    var script: [Step] = []
    /// Runs after a group was kept, before the store commits it.
    var afterAppend: (@Sendable () -> Void)?
  }
  let kept = Lock(Kept())

  var groups: [LogGroup] { kept.withLock { $0.groups } }
  var last: LogPoint { kept.withLock { Self.last($0) } }

  private static func last(_ kept: Kept) -> LogPoint {
    kept.groups.last.map { LogPoint(offset: $0.last, checksum: $0.checksumAfter) } ?? .empty
  }

  func script(_ steps: Step...) { kept.withLock { $0.script = steps } }

  // MARK: Ledger

  var isEmbedded: Bool { false }

  func begin(term: UInt64, ordinal: Int64, after point: LogPoint) -> LedgerAnswer {
    kept.withLock { kept in
      guard point == Self.last(kept) else { return .deposed(reason: "the log has another end") }
      guard ordinal > kept.ordinal else { return .deposed(reason: "a later term has begun") }
      kept.term = term
      kept.ordinal = ordinal
      return .appended
    }
  }

  func append(_ group: LogGroup, after point: LogPoint, in term: UInt64) -> LedgerAnswer {
    let (answer, afterAppend) = kept.withLock { kept -> (LedgerAnswer, (@Sendable () -> Void)?) in
      let step = kept.script.isEmpty ? .append : kept.script.removeFirst()
      if case .depose = step { return (.deposed(reason: "scripted"), nil) }
      guard term == kept.term, point == Self.last(kept), group.first == point.offset + 1,
        group.checksumBefore == point.checksum
      else { return (.deposed(reason: "the group does not continue the log"), nil) }
      switch step {
      case .depose: return (.deposed(reason: "scripted"), nil)
      case .append:
        kept.groups.append(group)
        return (.appended, kept.afterAppend)
      case .lose(let keeping):
        if keeping { kept.groups.append(group) }
        return (.unknown(reason: "scripted"), nil)
      }
    }
    afterAppend?()
    return answer
  }

  func groups(after offset: Int64, bytes: Int) -> [LogGroup] {
    kept.withLock { kept in
      var size = 0
      return Array(
        kept.groups.drop { $0.last <= offset }.prefix { group in
          defer { size += group.entries.reduce(0) { $0 + $1.count } }
          return size < bytes
        })
    }
  }

  func bounds() -> (first: LogPoint, last: LogPoint) { (.empty, last) }

  func newestSnapshot() -> LedgerSnapshot? { nil }
}
