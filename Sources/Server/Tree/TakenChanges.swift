/// How far a loop's listeners have taken the changes of the log, and what waits for it.
struct TakenChanges {
  /// The last offset of the last batch; 0 before the first.
  private(set) var applied: Int64 = 0
  /// The last offset before the first batch.
  private var base: Int64 = 0
  private var waiting: [(offset: Int64, run: () -> Void)] = []

  /// Every batch after this offset follows.
  mutating func begins(after offset: Int64) { base = offset }

  /// Whether every change up to `offset` has been taken.
  func has(_ offset: Int64) -> Bool { offset <= max(applied, base) }

  /// Keeps `run` until every change up to `offset` has been taken.
  mutating func wait(for offset: Int64, _ run: @escaping () -> Void) { waiting.append((offset, run)) }

  /// A batch up to `offset` was taken.
  ///
  /// - Returns: what has waited for it, in its order.
  mutating func take(_ offset: Int64) -> [() -> Void] {
    applied = offset
    let due = waiting.filter { has($0.offset) }
    waiting = waiting.filter { !has($0.offset) }
    return due.map(\.run)
  }
}
