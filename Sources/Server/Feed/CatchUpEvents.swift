internal import MartletChangeFeed

/// The newest events that members have caught up with, for the others of their groups: when a server restarts, a
/// thousand members of one group have missed the same changes, and each event is encoded once for all of them.
///
/// Events whose payloads took reads or user code are not kept, because a later one may come out otherwise.
struct CatchUpEvents {
  private struct Key: Hashable {
    let group: ObjectIdentifier
    let offset: Int64
    let endsTransaction: Bool

    init(_ group: any FeedGroup, _ change: Change) {
      self.group = ObjectIdentifier(group)
      offset = change.offset
      endsTransaction = change.endsTransaction
    }
  }

  private struct Entry {
    let event: FeedEvent
    /// Kept, so that no other group gets its identity while the event is here.
    let group: any FeedGroup
  }

  /// Bytes that kept events may take.
  private let bound: Int
  /// What was added after `earlier`, up to half of the bound.
  private var recent: [Key: Entry] = [:]
  private var earlier: [Key: Entry] = [:]
  private var recentBytes = 0
  /// Bytes that an event takes besides its payload, about.
  private static let overhead = 256

  init(bytes bound: Int) {
    self.bound = bound
  }

  var count: Int { recent.count + earlier.count }

  func event(_ change: Change, for group: any FeedGroup) -> FeedEvent? {
    guard count > 0 else { return nil }
    let key = Key(group, change)
    return (recent[key] ?? earlier[key])?.event
  }

  /// Keeps an event of a change, and removes the older half where the bound would be exceeded.
  mutating func add(_ event: FeedEvent, of change: Change, for group: any FeedGroup) {
    let bytes = event.payload.count + Self.overhead
    guard bytes <= bound / 2 else { return }
    if recentBytes + bytes > bound / 2 {
      earlier = recent
      recent = [:]
      recentBytes = 0
    }
    recentBytes += bytes
    recent[Key(group, change)] = Entry(event: event, group: group)
  }
}
