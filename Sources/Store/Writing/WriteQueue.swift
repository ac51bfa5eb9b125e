internal import MartletVocabulary

/// The writes that wait for the writer, and which of them the next group takes.
///
/// A group takes small writes in their order. A large write is a group of its own, so that no small one waits for its
/// commit longer than the writer takes for it, and small ones that come later pass it while it has not begun: at most
/// `StoreLimits.groupsBeforeLarge` groups of them. Writes that one client numbers keep their order.
struct WriteQueue<Element> {
  private struct Entry {
    let element: Element
    let size: Int
    /// A write number of its client, whatever the number.
    let client: WriteNumber?

    func isSameClient(as other: WriteNumber?) -> Bool {
      guard var client, let other else { return false }
      client.number = other.number
      return client == other
    }
  }

  private let limits: StoreLimits
  private var small: [Entry] = []
  /// Large writes, and small ones that must not pass a large one of the same client.
  private var large: [Entry] = []
  /// Entries of `small` and `large` that have been taken.
  private var (takenSmall, takenLarge) = (0, 0)
  /// Groups that have passed the first large write.
  private var passed = 0
  /// Operations of all writes that wait.
  private(set) var operations = 0

  init(_ limits: StoreLimits) {
    self.limits = limits
  }

  /// The number of writes that wait.
  var count: Int { small.count - takenSmall + large.count - takenLarge }
  var isEmpty: Bool { count == 0 }

  /// Whether there is room for a write of `size` operations. An empty queue takes one of any size.
  func hasRoom(for size: Int) -> Bool {
    isEmpty || count < limits.queuedWrites && operations + size <= limits.queuedOperations
  }

  /// Appends a write of `size` operations. Those that one client has numbered are taken in the order in which they were
  /// appended.
  mutating func append(_ element: Element, size: Int, number: WriteNumber?) {
    let entry = Entry(element: element, size: size, client: number)
    operations += size
    let follows = large[takenLarge...].contains { $0.isSameClient(as: number) }
    if size > limits.smallWrite || follows { large.append(entry) } else { small.append(entry) }
  }

  /// Removes and returns the writes of the next group: a large write alone, or small ones up to the bound of a group.
  /// Unless it takes large ones there may be none.
  mutating func next(takesLarge: Bool = true) -> [Element] {
    if takesLarge, takenLarge < large.count, takenSmall == small.count || isLargeDue {
      passed = 0
      let element = takeLarge()
      // What waited for it alone is small again.
      while takenLarge < large.count, large[takenLarge].size <= limits.smallWrite {
        small.append(large[takenLarge])
        takenLarge += 1
      }
      compact()
      return [element]
    }
    if takesLarge, takenLarge < large.count { passed += 1 }
    var group: [Element] = []
    var size = 0
    while takenSmall < small.count, group.isEmpty || size + small[takenSmall].size <= limits.groupOperations {
      size += small[takenSmall].size
      group.append(small[takenSmall].element)
      takenSmall += 1
    }
    operations -= size
    compact()
    return group
  }

  /// Whether the first large write has waited long enough, and no earlier write of its client waits.
  private var isLargeDue: Bool {
    passed >= limits.groupsBeforeLarge
      && !small[takenSmall...].contains { $0.isSameClient(as: large[takenLarge].client) }
  }

  private mutating func takeLarge() -> Element {
    let entry = large[takenLarge]
    takenLarge += 1
    operations -= entry.size
    return entry.element
  }

  /// Lets go of what has been taken, once that is most of what is held.
  private mutating func compact() {
    if takenSmall * 2 >= small.count {
      small.removeFirst(takenSmall)
      takenSmall = 0
    }
    if takenLarge * 2 >= large.count {
      large.removeFirst(takenLarge)
      takenLarge = 0
    }
  }
}
