/// Changes of the feed that wait for the syncs before them, within a bound.
struct HeldChanges: Sendable {
  struct Part: Sendable {
    var changes: [RemoteChange]
    var cursor: String?
    var position: Int64
  }

  private let limit: Int
  private var parts: [Part] = []
  /// How many changes wait.
  private(set) var count = 0
  /// Whether there were more than the limit: none is kept then.
  private(set) var isOverfull = false

  init(limit: Int = 0) { self.limit = limit }

  mutating func append(_ part: Part) {
    guard !isOverfull else { return }
    count += part.changes.count
    parts.append(part)
    if count > limit {
      isOverfull = true
      parts = []
      count = 0
    }
  }

  /// What waits, in order.
  mutating func take() -> [Part] {
    defer { parts = [] }
    count = 0
    return parts
  }
}
