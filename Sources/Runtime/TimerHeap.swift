package import MartletVocabulary

/// Timers in exact order: by deadline, equal deadlines in the order they were scheduled. A binary heap.
///
/// Cancelled timers let go of their work at once and leave the heap when it is swept, which happens before it grows
/// past twice what was live at the last sweep; so connections that re-arm a timer per request cannot fill it.
package struct TimerHeap {
  private struct Entry {
    let deadline: Instant
    let sequence: UInt64
    let timer: LoopTimer

    func precedes(_ other: Entry) -> Bool {
      deadline == other.deadline ? sequence < other.sequence : deadline < other.deadline
    }
  }

  private var entries: [Entry] = []
  private var nextSequence: UInt64 = 0
  private var sweepAt = 64

  package init() {}

  /// Entries held, cancelled ones included.
  package var count: Int { entries.count }

  /// The earliest deadline. A cancelled timer may make it too early, never too late.
  package var nextDeadline: Instant? { entries.first?.deadline }

  package mutating func insert(_ timer: LoopTimer, at deadline: Instant) {
    if entries.count >= sweepAt { sweep() }
    entries.append(Entry(deadline: deadline, sequence: nextSequence, timer: timer))
    nextSequence += 1
    siftUp(entries.count - 1)
  }

  /// Takes the first timer whose deadline is at or before `now`; cancelled ones are passed over.
  package mutating func popDue(_ now: Instant) -> LoopTimer? {
    while let first = entries.first, first.deadline <= now {
      removeFirst()
      if !first.timer.isCancelled { return first.timer }
    }
    return nil
  }

  private mutating func removeFirst() {
    let last = entries.removeLast()
    guard !entries.isEmpty else { return }
    entries[0] = last
    siftDown(0)
  }

  private mutating func sweep() {
    entries.removeAll { $0.timer.isCancelled }
    for index in stride(from: entries.count / 2 - 1, through: 0, by: -1) { siftDown(index) }
    sweepAt = max(64, entries.count * 2)
  }

  private mutating func siftUp(_ start: Int) {
    var index = start
    while index > 0 {
      let parent = (index - 1) / 2
      guard entries[index].precedes(entries[parent]) else { return }
      entries.swapAt(index, parent)
      index = parent
    }
  }

  private mutating func siftDown(_ start: Int) {
    var index = start
    while true {
      var least = index
      for child in (2 * index + 1)...(2 * index + 2)
      where child < entries.count && entries[child].precedes(entries[least]) {
        least = child
      }
      guard least != index else { return }
      entries.swapAt(index, least)
      index = least
    }
  }
}
