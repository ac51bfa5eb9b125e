/// Work in order of arrival; its storage is used again when it runs empty.
struct WorkFIFO {
  private var items: [LoopItem?] = []
  private var head = 0

  /// How many wait.
  var count: Int { items.count - head }
  var isEmpty: Bool { head == items.count }

  mutating func append(_ item: LoopItem) {
    items.append(item)
  }

  mutating func popFirst() -> LoopItem? {
    guard head < items.count else { return nil }
    let item = items[head]
    // What the work captured goes when the work has run, not when the storage turns over.
    items[head] = nil
    head += 1
    if head == items.count {
      items.removeAll(keepingCapacity: items.count <= 4096)
      head = 0
    } else if head >= 4096, head >= items.count / 2 {
      items.removeFirst(head)
      head = 0
    }
    return item
  }
}
