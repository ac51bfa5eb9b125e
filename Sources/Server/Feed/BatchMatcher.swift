internal import MartletChangeFeed
internal import MartletVocabulary

/// Matches the changes of batches with subscriptions, a number of them in each turn of the loop.
///
/// A transaction of ten thousand changes is one batch: it is matched and encoded over several turns, so that other
/// requests of the loop are served in between.
package struct BatchMatcher {
  /// What comes next.
  enum Step {
    /// A change for a group, to be encoded. `before` is the offset before its batch.
    case event(Change, GroupID, before: Int64)
    /// All of a batch has been matched.
    case matched(ChangeBatch)
    /// Nothing to do for the caller yet.
    case searched
  }

  /// What looking a change up in the index costs: the unit.
  private static let change = 1
  /// What encoding an event costs besides: about as much as so many look-ups.
  private static let event = 8

  private struct Entry {
    let batch: ChangeBatch
    let before: Int64
    /// The position of the first change that has not been looked up.
    var next = 0
  }

  private var entries: [Entry] = []
  /// What matches of the transaction under way. It is encoded when all of it has been looked up, because each group's
  /// mark stands on the last change that it gets.
  private var matches = TransactionMatches()
  private var isEncoding = false
  private var turn: Instant?
  private var left = 0
  private var done = 0
  /// The most work that was done in one turn.
  package private(set) var largest = 0
  /// Whether matching continues in the next turn.
  private(set) var isContinued = false

  /// The offset before the first batch that has not been matched whole; nil when there is none.
  var before: Int64? { entries.first?.before }

  mutating func append(_ batch: ChangeBatch, before: Int64) { entries.append(Entry(batch: batch, before: before)) }
  mutating func removeAll() { entries.removeAll() }

  /// Takes the next step; nil when there is nothing to do, or when the turn has no room for more.
  ///
  /// - Parameters:
  ///   - now: The turn, by the loop's clock.
  ///   - bound: The work of one turn.
  ///   - find: Adds the groups that a change is for.
  mutating func next(
    at now: Instant, _ bound: Int, _ find: (Change, (GroupID) -> Void) -> Void
  ) -> Step? {
    if turn != now { renew(now, bound) }
    guard left > 0, let entry = entries.first else { return nil }
    let changes = entry.batch.changes
    if isEncoding {
      guard let match = matches.next() else {
        matches.removeAll()
        isEncoding = false
        return .searched
      }
      spend(Self.event)
      return .event(changes[match.change].marked(endsTransaction: match.isLast), match.group, before: entry.before)
    }
    guard entry.next < changes.count else {
      entries.removeFirst()
      return .matched(entry.batch)
    }
    spend(Self.change)
    find(changes[entry.next]) { matches.append(entry.next, $0) }
    entries[0].next += 1
    if changes[entry.next].endsTransaction || entry.next == changes.count - 1 {
      matches.markLast()
      isEncoding = true
    }
    return .searched
  }

  /// Whether something is left for another turn, which has to be asked for.
  var continues: Bool {
    mutating get {
      isContinued = !entries.isEmpty
      return isContinued
    }
  }

  /// Begins another turn.
  mutating func renew(_ now: Instant, _ bound: Int) {
    isContinued = false
    turn = now
    left = max(bound, 1)
    done = 0
  }

  private mutating func spend(_ work: Int) {
    left -= work
    done += work
    largest = max(largest, done)
  }
}
