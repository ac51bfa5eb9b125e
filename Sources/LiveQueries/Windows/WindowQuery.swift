package import MartletModels

/// What a live query shows: the records that a condition selects, in an order, or a page of them.
package struct WindowQuery: Sendable, Hashable {
  /// The model's number.
  package var model: Int
  /// Which records are selected.
  package var predicate: Predicate
  /// In which order.
  package var order: RowOrder
  /// Selected records that are left out at the beginning.
  package var offset: Int
  /// What the condition and the rows need of related records.
  package var related: RelatedTerms
  /// Records that are shown at most; nil for all.
  package var limit: Int?

  /// The largest offset and limit: more rows than any store has, and a window can add some of either without overflow.
  private static let mostRows = 1 << 60

  /// A query.
  package init(
    model: Int, predicate: Predicate = .all, order: RowOrder, offset: Int = 0, limit: Int? = nil,
    related: RelatedTerms = RelatedTerms()
  ) {
    self.model = model
    self.predicate = predicate
    self.order = order
    self.offset = min(max(0, offset), Self.mostRows)
    self.limit = limit.map { min(max(0, $0), Self.mostRows) }
    self.related = related
  }
}

/// How many rows a window keeps beside those it shows.
package struct WindowLimits: Sendable {
  /// Rows that are kept on each side of a page, so that a page that loses a row takes the next from here. A side is
  /// read again from the store only after this many more rows have left than entered. 32 rows cost one read of about
  /// 0.1 ms and, at 350 bytes, 11 KiB for every live query.
  package var margin = 32

  /// The defaults.
  package init() {}
}

/// What a window needs from the store, as of the last change that was applied to it. A window, which seldom needs
/// anything, has room for a reference to one.
package indirect enum WindowRequest: Sendable, Hashable {
  /// `count` selected records in the order after the first `offset`; all of them for nil. The answer also says how many
  /// records were left out, which is less than `offset` when there are not so many.
  case page(offset: Int, count: Int?)
  /// The first `count` selected records after this one.
  case after(LiveRow, count: Int)
  /// The last `count` selected records before this one, in the query's order.
  case before(LiveRow, count: Int)
}

/// The store's answer to a request.
package struct WindowRows: Sendable {
  /// The rows in the query's order.
  package var rows: SharedChunks<LiveRow>
  /// For a page: selected records before the first of `rows`.
  package var skipped: Int

  /// An answer.
  package init(_ rows: SharedChunks<LiveRow>, skipped: Int = 0) {
    self.rows = rows
    self.skipped = skipped
  }

  /// An answer.
  package init(_ rows: [LiveRow], skipped: Int = 0) { self.init(SharedChunks(rows), skipped: skipped) }
}

/// The work that windows did, for tests that bound it and for a console.
package struct WindowCounters: Sendable, Hashable {
  /// Changes that concerned a window.
  package var changes = 0
  /// Records compared with others by a query's order.
  package var comparisons = 0
  /// Rows inserted, removed or replaced.
  package var rowsTouched = 0
  /// Requests to the store, the first one included.
  package var requests = 0
  /// Rows that the store's answers had.
  package var rowsRead = 0

  /// Nothing done.
  package init() {}
}
