internal import MartletChangeFeed
internal import MartletModels

/// The changes of one model's records, each record once: as it is at the end, or as the caller saw it last.
struct CollapsedChanges {
  struct Result {
    var record: Record
    var version: Int64
    var time: Int64
    /// The record was deleted, or the caller no longer sees it.
    var isGone: Bool
  }

  private struct State {
    /// The record after the last change, where the caller sees it.
    var current: Record?
    /// The last image that the caller could see.
    var seen: Record?
    var version: Int64
    var time: Int64
  }

  private let shown: Predicate
  private let gone: Predicate
  private var states: [RecordKey: State] = [:]
  private var order: [RecordKey] = []

  /// - Parameters:
  ///   - shown: the records that the caller sees.
  ///   - gone: the records whose end is shown to it.
  init(shown: Predicate, gone: Predicate) {
    self.shown = shown
    self.gone = gone
  }

  var count: Int { order.count }
  /// About how many bytes the results have.
  private(set) var size = 0

  mutating func add(_ change: Change) {
    guard let record = change.record else { return }
    var state: State
    let before = states[record.key]?.seen?.size ?? 0
    defer { size += (states[record.key]?.seen?.size ?? 0) - before }
    if let known = states[record.key] {
      state = known
    } else {
      order.append(record.key)
      state = State(version: 0, time: 0)
      if let before = record.before, shown.matches(before) { state.seen = before }
    }
    state.version = record.version
    state.time = change.time
    state.current = nil
    if let after = record.after {
      if shown.matches(after) {
        state.current = after
        state.seen = after
      }
    } else if shown.matches(record.image) || gone.matches(record.image) {
      state.seen = record.image
    }
    states[record.key] = state
  }

  /// The records, in the order of their first changes. One that the caller never saw is not among them.
  var results: [Result] {
    order.compactMap { key in
      guard let state = states[key] else { return nil }
      if let record = state.current {
        return Result(record: record, version: state.version, time: state.time, isGone: false)
      }
      guard let seen = state.seen, gone.matches(seen) else { return nil }
      return Result(record: seen, version: state.version, time: state.time, isGone: true)
    }
  }
}
