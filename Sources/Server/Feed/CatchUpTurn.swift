internal import MartletVocabulary

/// How much of its turn a loop gives to catch-ups, and the readers that wait for the next one.
///
/// When many clients come back at once, each has members that are compared with each change they missed. Together they
/// get a share of a turn; what is left continues in later turns, in the order of the readers, so that live events and
/// other requests of the loop are served in between.
struct CatchUpTurn {
  /// What comparing a change with a member costs: the unit.
  static let comparison = 1
  /// What encoding and writing an event costs besides: about as much as so many comparisons.
  static let event = 16

  /// The turn, by the loop's clock.
  private var turn: Instant?
  private var left = 0
  private var waiting: [any CatchUpWaiting] = []
  private var isScheduled = false
  /// The most work that was done in one turn.
  private(set) var largest = 0
  private var done = 0

  /// Whether a reader may work in this turn.
  ///
  /// - Parameters:
  ///   - now: The turn, by the loop's clock.
  ///   - bound: The work of one turn.
  mutating func mayWork(at now: Instant, _ bound: Int) -> Bool {
    if turn != now { renew(now, bound) }
    return left > 0
  }

  private mutating func renew(_ now: Instant, _ bound: Int) {
    turn = now
    left = max(bound, 1)
    done = 0
  }

  mutating func spend(_ work: Int) {
    left -= work
    done += work
    largest = max(largest, done)
  }

  /// Keeps a reader for a later turn.
  ///
  /// - Returns: whether that turn has to be asked for.
  mutating func queue(_ reader: any CatchUpWaiting) -> Bool {
    reader.isQueued = true
    waiting.append(reader)
    return asks()
  }

  private mutating func asks() -> Bool {
    defer { isScheduled = true }
    return !isScheduled
  }

  /// Begins another turn, and returns the readers that wait for it.
  mutating func begin(at now: Instant, _ bound: Int) -> [any CatchUpWaiting] {
    isScheduled = false
    renew(now, bound)
    defer { waiting = [] }
    return waiting
  }

  /// The readers whose turn has not come wait on, before those that joined.
  ///
  /// - Returns: whether another turn has to be asked for.
  mutating func putBack(_ readers: ArraySlice<any CatchUpWaiting>) -> Bool {
    guard !readers.isEmpty else { return false }
    waiting.insert(contentsOf: readers, at: 0)
    return asks()
  }
}

/// A reader that continues when its turn has come. Confined to its loop.
protocol CatchUpWaiting: AnyObject {
  /// Whether it waits for a later turn.
  var isQueued: Bool { get set }
  /// Reads on.
  func pump()
}
