internal import MartletChangeFeed
internal import MartletVocabulary

/// Batches that a feed has received and not matched whole, and what it may still match in a turn of its loop.
///
/// A transaction of ten thousand changes is one batch: it is matched and encoded over several turns, so that other
/// requests of the loop are served in between.
struct MatchingQueue {
  /// What looking a change up in the index costs: the unit.
  static let change = 1
  /// What encoding an event costs besides: about as much as so many look-ups.
  static let event = 8

  /// A batch under way.
  struct Entry {
    let batch: ChangeBatch
    /// The offset before the batch.
    let before: Int64
    /// The position of the first change that has not been looked up.
    var next = 0
    /// Whether a transaction has been looked up whole and its events are being encoded.
    var isEncoding = false
  }

  private var entries: [Entry] = []
  private var turn: Instant?
  private var left = 0
  private var done = 0
  /// The most work that was done in one turn.
  private(set) var largest = 0

  var isEmpty: Bool { entries.isEmpty }
  /// The offset before the first batch that has not been matched whole; nil when there is none.
  var before: Int64? { entries.first?.before }
  var first: Entry? {
    get { entries.first }
    set { if let newValue, !entries.isEmpty { entries[0] = newValue } }
  }

  mutating func append(_ batch: ChangeBatch, before: Int64) { entries.append(Entry(batch: batch, before: before)) }
  mutating func removeFirst() { entries.removeFirst() }
  mutating func removeAll() { entries.removeAll() }

  /// Whether the turn has room for more.
  ///
  /// - Parameters:
  ///   - now: The turn, by the loop's clock.
  ///   - bound: The work of one turn.
  mutating func mayWork(at now: Instant, _ bound: Int) -> Bool {
    if turn != now { renew(now, bound) }
    return left > 0
  }

  /// Begins another turn.
  mutating func renew(_ now: Instant, _ bound: Int) {
    turn = now
    left = max(bound, 1)
    done = 0
  }

  mutating func spend(_ work: Int) {
    left -= work
    done += work
    largest = max(largest, done)
  }
}
