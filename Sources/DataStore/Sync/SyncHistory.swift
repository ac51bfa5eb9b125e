internal import MartletStore
internal import MartletVocabulary

/// Which history of the server's log the positions of a store's rows belong to.
///
/// Positions are compared, so they must come from one history. A server that runs on an older copy of its data begins
/// another one. The server judges the feed's cursor whenever the feed is resumed; pages and answers can be ahead of it,
/// and the newest of these is judged by itself once another run of the server has answered.
struct SyncHistory: Sendable {
  /// Names of the values in the store.
  static let (feedName, aheadName) = ("cursor", "ahead")

  /// Where the feed has passed; nil until the first sync is complete.
  var feed: Cursor?
  /// The newest cursor of a page or an answer.
  private(set) var ahead: Cursor?
  /// Whether `ahead` is to be stored with the next transaction.
  private(set) var isUnsaved = false
  /// Whether the server has said that it wrote `ahead`.
  private var isJudged = false
  /// The run of the server that the feed comes from.
  private var run: UInt64?
  /// The runs that the feed came from before: one for each restart of the server that this process has met.
  private var earlierRuns: Set<UInt64> = []

  init(feed: Cursor? = nil, ahead: Cursor? = nil) {
    self.feed = feed
    self.ahead = ahead
    run = feed?.term
  }

  /// The cursor that the server is to judge before anything else is taken from it; nil when the feed's says enough.
  var toJudge: Cursor? { isJudged || isCovered ? nil : ahead }

  /// Whether the feed's cursor stands for all positions.
  private var isCovered: Bool {
    guard let ahead else { return true }
    return feed.map { $0.offset >= ahead.offset } ?? false
  }

  /// Whether what the feed brings with a cursor can be compared with what is stored. Otherwise `ahead` is to be judged.
  mutating func agrees(with cursor: Cursor) -> Bool {
    if let run, run != cursor.term { earlierRuns.insert(run) }
    run = cursor.term
    return isComparable(with: cursor)
  }

  private mutating func isComparable(with cursor: Cursor) -> Bool {
    if isCovered || ahead?.term == cursor.term { return true }
    isJudged = false
    return false
  }

  /// The same for a page or an answer, whose positions are stored then. What comes from a run of the server that the
  /// feed has left is not taken: the server may be on an older copy by now that lacks these records, and no gap would
  /// say so.
  mutating func takes(_ cursor: Cursor) -> Bool {
    guard !earlierRuns.contains(cursor.term), isComparable(with: cursor) else { return false }
    if let ahead, ahead.term == cursor.term, ahead.offset >= cursor.offset { return true }
    ahead = cursor
    isUnsaved = true
    return true
  }

  /// The server has written everything that is stored, and stands at `cursor`; nil where it gives none.
  mutating func judged(at cursor: Cursor?) {
    ahead = cursor
    isJudged = true
    isUnsaved = true
  }

  /// The feed restarts, and its cursor is void. It stands for the newest positions that are stored, and is judged in
  /// place of an older one of a page or an answer: the server may be on an older copy by then.
  mutating func forgetFeed() {
    defer { feed = nil }
    guard let feed, ahead.map({ $0.offset < feed.offset }) ?? true else { return }
    (ahead, isJudged, isUnsaved) = (feed, false, true)
  }

  mutating func saved() { isUnsaved = false }
}

extension SyncHistory {
  /// What a store has.
  init(_ writer: ClientWriter) throws {
    self.init(
      feed: try writer.value(Self.feedName).flatMap { Cursor($0) },
      ahead: try writer.value(Self.aheadName).flatMap { Cursor($0) })
  }
}
