internal import MartletChangeFeed

/// The changes of one transaction and the groups they match, in order, with the last one of each group.
///
/// Reused from transaction to transaction, so that nothing is allocated once it has grown.
struct TransactionMatches {
  struct Element {
    /// The position of the change in its batch.
    let change: Int
    let group: GroupID
    /// Whether no later change of the transaction matches for the group.
    var isLast = true
  }

  private(set) var elements: [Element] = []
  /// The position of the first element that `next` has not returned.
  private var position = 0
  private var seen: Set<GroupID> = []

  /// Adds a match; matches come in the order of their changes.
  mutating func append(_ change: Int, _ group: GroupID) {
    elements.append(Element(change: change, group: group))
  }

  /// Finds the last match of each group, after all have been added.
  mutating func markLast() {
    // A group is matched once by a change, so that one change alone has nothing but last matches.
    guard let first = elements.first, let last = elements.last, first.change != last.change else { return }
    for index in elements.indices.reversed() {
      elements[index].isLast = seen.insert(elements[index].group).inserted
    }
    seen.removeAll(keepingCapacity: true)
  }

  /// Returns the elements one after the other, and nil after the last.
  mutating func next() -> Element? {
    guard position < elements.count else { return nil }
    position += 1
    return elements[position - 1]
  }

  mutating func removeAll() {
    elements.removeAll(keepingCapacity: true)
    position = 0
  }
}
