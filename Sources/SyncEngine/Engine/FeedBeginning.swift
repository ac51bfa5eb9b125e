/// Where a feed begins that was not resumed.
struct FeedBeginning {
  /// The cursor to store once the syncs before it are complete; nil for a feed that was resumed, or without cursors.
  private(set) var cursor: String?
  /// Whether the feed gave no cursor to begin with: the first page's is taken.
  private var isOpen = false

  init() {}

  init(resumed: Bool, _ cursor: String?) {
    self.cursor = resumed ? nil : cursor
    isOpen = !resumed && cursor == nil
  }

  /// Takes the cursor of a page. The feed was established before the first page was read: it has all that came after.
  mutating func take(_ page: String?) {
    guard isOpen, let page else { return }
    cursor = page
    isOpen = false
  }

  /// Whether changes may have been missed, so that no change says which records have gone. A feed without cursors
  /// gives no sign of it.
  var isAfterGap: Bool { cursor != nil }
}
