internal import MartletModels

/// The result of one live query, kept exact change by change.
///
/// The window keeps a gapless part of the ordered result: the page it shows, a margin on both sides, and how many
/// selected records come before that part. A change outside the part only moves that number. When a page runs into
/// the end of its margin, `request` says which rows the window needs; it is exact again once they are filled in.
///
/// Changes are applied in commit order, each once, and the store answers requests as of the last change applied.
package struct QueryWindow: Sendable {
  // In this order they fill each other's gaps.
  package let query: WindowQuery
  /// Whether no selected record comes after `kept`.
  private var reachesEnd = false
  /// False before the first page, and when so much has left that the rest of the result cannot be located.
  private var isLocated = false
  private var hasUntaken = false
  /// Whether changes were missed, so that all rows have to be compared.
  private var missedChanges = false
  /// Whether rows may have been replaced by equal ones since the consumer took them.
  private var hasEqualRows = false
  private let limits: WindowLimits
  /// A part of the result without gaps.
  private(set) var kept = SharedChunks<LiveRow>()
  /// Where a row was found last.
  private var found = 0
  /// Selected records before `kept`.
  private(set) var before = 0
  /// The rows that the consumer took last, and what has changed since.
  private var taken = TakenRows.nothing
  /// What the store is asked for; nil while the window is exact.
  package private(set) var request: WindowRequest?
  package private(set) var counters = WindowCounters()

  /// A window without rows; its first request is the page.
  package init(_ query: WindowQuery, limits: WindowLimits = WindowLimits()) {
    self.query = query
    self.limits = limits
    settle()
  }

  /// The rows of the query, while `request` is nil.
  package var rows: VisibleRows { VisibleRows(kept, shownRange) }

  /// How many rows it keeps, those beside its page included.
  package var keptCount: Int { kept.count }

  private var shownRange: Range<Int> {
    let low = min(max(query.offset - before, 0), kept.count)
    let high = query.limit.map { min(max(query.offset - before + $0, low), kept.count) } ?? kept.count
    return low..<high
  }

  /// Whether the consumer has something to take.
  package var isDue: Bool { request == nil && (taken.isNothing || missedChanges || hasUntaken) }

  // MARK: Changes

  /// Applies a change of a record that the query selects before it, after it, or both: `left`, `entered`, `stayed`.
  package mutating func apply(_ effect: ChangeEffect) {
    counters.changes += 1
    let (old, new) = effect.images
    guard let key = (old ?? new)?.key else { return }
    hasUntaken = !taken.isNothing
    if isLocated, let old, let new, order(old, new) == 0 { return replace(old, with: new) }
    if old == nil, let new, isOutside(new) { return }
    note(key, old, new)
    // A page that is still awaited is read after this change.
    guard isLocated else { return }
    if let old { remove(old) }
    if let new { insert(new) }
  }

  /// Whether a row that enters the result changes nothing of what is kept, and is to the consumer as if it had always
  /// been there: it comes after all that is kept and all that the consumer has, which has no other row of its record.
  private mutating func isOutside(_ row: LiveRow) -> Bool {
    guard isLocated, !reachesEnd, let last = kept.last, order(row, last) > 0 else { return false }
    guard case .apart(let published, let touched) = taken else { return true }
    guard touched[row.key] == nil else { return false }
    return published.last.map { order(row, $0) > 0 } ?? true
  }

  private mutating func replace(_ old: LiveRow, with row: LiveRow) {
    // A row outside those kept changes nothing of what is shown.
    guard let index = index(of: row) else { return taken.note(row.key, old, row) }
    if !taken.noteReplacement(at: index, in: kept) { note(row.key, old, row) }
    kept.replace(at: index, with: row)
    counters.rowsTouched += 1
  }

  /// Notes a change that is not, or not only, the replacement of a row at its place.
  private mutating func note(_ key: RecordKey, _ old: LiveRow?, _ new: LiveRow?) {
    losePlaces()
    taken.note(key, old, new)
  }

  /// Rows are about to get other places in `kept` than they had when they were taken.
  private mutating func losePlaces() { taken.part(from: kept) }

  private mutating func remove(_ row: LiveRow) {
    guard isLocated else { return }
    guard let first = kept.first, let last = kept.last else {
      if reachesEnd, before > 0 { before -= 1 } else { isLocated = false }
      return
    }
    if order(row, first) < 0 {
      if before > 0 { before -= 1 } else { contradict() }
    } else if order(row, last) > 0 {
      if reachesEnd { contradict() }
    } else if let index = index(of: row) {
      kept.remove(at: index)
      counters.rowsTouched += 1
    } else {
      contradict()
    }
  }

  private mutating func insert(_ row: LiveRow) {
    guard isLocated else { return }
    guard let first = kept.first, let last = kept.last else {
      guard reachesEnd else { return isLocated = false }
      if before == 0 { place(row, at: 0) } else { before += 1 }
      return
    }
    if order(row, first) < 0 {
      if before == 0 { place(row, at: 0) } else { before += 1 }
    } else if order(row, last) > 0 {
      if reachesEnd { place(row, at: kept.count) }
    } else {
      place(row, at: lowerBound(of: row))
    }
  }

  private mutating func place(_ row: LiveRow, at index: Int) {
    kept.insert(row, at: index)
    counters.rowsTouched += 1
  }

  /// The changes, or the store's answers, do not fit what the window has: the store is asked for the page again.
  private mutating func contradict() {
    isLocated = false
    missedChanges = !taken.isNothing
  }

  /// Forgets what it has, after changes that were not applied one by one; the store is asked for the page again.
  package mutating func reload() {
    contradict()
    settle()
  }

  // MARK: Requests

  /// Decides what to ask for, after the changes of a commit or an answer.
  package mutating func settle() {
    request = needed()
    if request != nil { counters.requests += 1 } else { trim() }
  }

  private func needed() -> WindowRequest? {
    let margin = limits.margin
    let start = max(0, query.offset - margin)
    let page = WindowRequest.page(
      offset: start, count: query.limit.map { query.offset - start + $0 + margin })
    guard isLocated else { return page }
    let missing = before - query.offset
    if missing > 0 {
      guard let first = kept.first else { return page }
      return .before(first, count: min(missing + margin, before))
    }
    if let limit = query.limit, !reachesEnd, query.offset - before + limit > kept.count {
      guard let last = kept.last else { return page }
      return .after(last, count: query.offset - before + limit - kept.count + margin)
    }
    return nil
  }

  /// Takes in the store's answer to `request`. An answer to an earlier request is ignored.
  package mutating func fill(_ answer: WindowRows, for asked: WindowRequest) {
    guard let request, request == asked else { return }
    counters.rowsRead += answer.rows.count
    losePlaces()
    hasEqualRows = true
    switch request {
    case .page(let offset, let count):
      kept = answer.rows
      before = answer.skipped
      reachesEnd = count.map { answer.rows.count < $0 || answer.skipped < offset } ?? true
      isLocated = true
    case .after(_, let count):
      kept.append(contentsOf: answer.rows)
      reachesEnd = answer.rows.count < count
    case .before(_, let count):
      kept.prepend(answer.rows)
      before -= answer.rows.count
      if answer.rows.count < count { contradict() }
    }
    settle()
  }

  /// Gives up rows far outside the page, so that a window's memory stays in proportion to what it shows.
  private mutating func trim() {
    let low = query.offset - before
    if low > 2 * limits.margin {
      losePlaces()
      let surplus = min(low - limits.margin, kept.count)
      kept.removeFirst(surplus)
      before += surplus
    }
    guard let limit = query.limit else { return }
    let high = query.offset - before + limit
    if kept.count > high + 2 * limits.margin {
      losePlaces()
      kept.removeLast(kept.count - high - limits.margin)
      reachesEnd = false
    }
  }

  // MARK: Snapshots

  /// The rows and how they differ from those taken before; nil when nothing has changed, or while the store is asked.
  package mutating func take() -> WindowSnapshot? {
    guard isDue else { return nil }
    let shown = shownRange
    let rows = VisibleRows(kept, shown)
    let isFirst = taken.isNothing
    let changes = changes(to: rows)
    taken = .inPlace(shown, [])
    hasUntaken = false
    missedChanges = false
    guard isFirst || !changes.isEmpty else { return nil }
    defer { hasEqualRows = false }
    return WindowSnapshot(rows: rows, changes: changes, hasEqualRows: hasEqualRows)
  }

  /// The rows that the consumer took last. Some may be others than it took, equal to those.
  package var takenRows: VisibleRows {
    switch taken {
    case .nothing: VisibleRows()
    case .inPlace(let shown, let replaced): VisibleRows(kept.replacing(replaced), shown)
    case .apart(let published, _): published
    }
  }

  private mutating func changes(to rows: VisibleRows) -> ChangeSet {
    if missedChanges { losePlaces() }
    var changes = ChangeSet()
    switch taken {
    case .nothing: changes.insertions = Array(rows.indices)
    case .inPlace(let shown, let replaced):
      for (index, row) in replaced where shown.contains(index) {
        if kept[index] == row { hasEqualRows = true } else { changes.updates.append(index - shown.lowerBound) }
      }
      changes.updates.sort()
    case .apart(let published, _) where missedChanges: changes = ChangeSet(from: published, to: rows)
    case .apart(let published, let touched):
      var comparison = WindowComparison(query.order, published, rows)
      changes = comparison.changes(touched)
      counters.comparisons += comparison.comparisons
      if comparison.foundEqualRows { hasEqualRows = true }
    }
    return changes
  }

  // MARK: Places

  private mutating func order(_ left: LiveRow, _ right: LiveRow) -> Int {
    counters.comparisons += 1
    return query.order.compare(left.record, right.record)
  }

  private mutating func lowerBound(of row: LiveRow) -> Int {
    var comparisons = 0
    let index = kept.partition { other in
      comparisons += 1
      return query.order.compare(other.record, row.record) < 0
    }
    counters.comparisons += comparisons
    return index
  }

  private mutating func index(of row: LiveRow) -> Int? {
    // A record that changes again is where it was found last.
    if found < kept.count, kept[found].key == row.key { return found }
    let index = lowerBound(of: row)
    guard index < kept.count, order(kept[index], row) == 0 else { return nil }
    found = index
    return index
  }
}

/// What a change did to the result of one query.
package enum ChangeEffect: Sendable {
  case entered(LiveRow)
  case stayed(from: LiveRow, to: LiveRow)
  case left(LiveRow)

  /// The rows of the result before and after.
  var images: (LiveRow?, LiveRow?) {
    switch self {
    case .entered(let row): (nil, row)
    case .stayed(let old, let new): (old, new)
    case .left(let row): (row, nil)
    }
  }
}

/// The rows that the consumer took last, and what has changed since.
private enum TakenRows: Sendable {
  case nothing
  /// The rows kept in this range, but for those that were replaced since: by their indices among the rows kept, what
  /// the consumer has there. Nothing has to be looked for, and no second list of the rows has to be held: the window
  /// then is its list's only owner, and replaces a row without a copy.
  case inPlace(Range<Int>, [(index: Int, row: LiveRow)])
  /// Rows have other places now. Not within the window, which has this for a moment only: windows are as large as
  /// their largest case.
  indirect case apart(VisibleRows, [RecordKey: TouchedRow])

  /// Replacements noted by their place; beyond it a slow consumer's are noted by their record.
  private static let mostReplaced = 64

  var isNothing: Bool {
    switch self {
    case .nothing: true
    case .inPlace, .apart: false
    }
  }

  /// The row at an index of those kept is about to be replaced. False when that has to be noted by its record.
  mutating func noteReplacement(at index: Int, in kept: SharedChunks<LiveRow>) -> Bool {
    switch self {
    case .nothing: return true
    case .apart: return false
    case .inPlace(let shown, var replaced):
      if replaced.contains(where: { $0.index == index }) { return true }
      guard replaced.count < Self.mostReplaced else { return false }
      // The enumeration gives its list up, so that the list is changed in place.
      self = .nothing
      replaced.append((index, kept[index]))
      self = .inPlace(shown, replaced)
      return true
    }
  }

  /// A record has another place now, or none.
  mutating func note(_ key: RecordKey, _ old: LiveRow?, _ new: LiveRow?) {
    guard case .apart(let rows, var touched) = self else { return }
    self = .nothing
    touched[key, default: TouchedRow(first: old)].last = new
    self = .apart(rows, touched)
  }

  /// Makes a list of what the consumer has, before `kept` gets rows at other places.
  mutating func part(from kept: SharedChunks<LiveRow>) {
    guard case .inPlace(let shown, let replaced) = self else { return }
    var touched: [RecordKey: TouchedRow] = [:]
    for (index, row) in replaced { touched[row.key] = TouchedRow(first: row, last: kept[index]) }
    self = .apart(VisibleRows(kept.replacing(replaced), shown), touched)
  }
}

extension SharedChunks<LiveRow> {
  /// The same with other rows at some indices.
  fileprivate func replacing(_ rows: [(index: Int, row: LiveRow)]) -> SharedChunks {
    var others = self
    for (index, row) in rows { others.replace(at: index, with: row) }
    return others
  }
}

/// A record's place in the result when the consumer last took it, and its place now; nil for outside.
struct TouchedRow: Sendable {
  var first: LiveRow?
  var last: LiveRow?

  init(first: LiveRow?, last: LiveRow? = nil) {
    self.first = first
    self.last = last
  }
}

/// The result of a live query, and how it differs from the result before.
package struct WindowSnapshot: Sendable {
  package var rows: VisibleRows
  package var changes: ChangeSet
  /// Whether rows that have not changed may be others than those of the result before, equal to them: the store has
  /// read them again.
  package var hasEqualRows: Bool

  /// A result.
  package init(rows: VisibleRows = VisibleRows(), changes: ChangeSet = ChangeSet(), hasEqualRows: Bool = true) {
    self.rows = rows
    self.changes = changes
    self.hasEqualRows = hasEqualRows
  }
}
