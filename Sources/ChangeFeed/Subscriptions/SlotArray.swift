/// Elements without gaps, each with a name that stays while others come and go.
///
/// Adding and removing take constant time. Removal moves the last element into the hole: code that iterates while
/// removals may happen goes downwards from the end, and then sees each element that stays at least once.
package struct SlotArray<Element> {
  /// The name of an element; another element that later takes its place has another name.
  package struct Slot: Hashable, Sendable {
    var index: UInt32
    var generation: UInt32
  }

  private struct Entry {
    /// The element's position while taken, the next free slot otherwise.
    var link: UInt32
    var generation: UInt32
    var isTaken: Bool
  }

  /// The elements, in no particular order.
  package private(set) var elements: [Element] = []
  private var slotOfPosition: [UInt32] = []
  private var entries: [Entry] = []
  private var firstFree = UInt32.max

  package init() {}

  package var count: Int { elements.count }
  package var isEmpty: Bool { elements.isEmpty }

  /// Adds an element and names it.
  package mutating func insert(_ element: Element) -> Slot {
    let position = UInt32(elements.count)
    elements.append(element)
    if firstFree == .max {
      slotOfPosition.append(UInt32(entries.count))
      entries.append(Entry(link: position, generation: 0, isTaken: true))
      return Slot(index: UInt32(entries.count - 1), generation: 0)
    }
    let index = firstFree
    firstFree = entries[Int(index)].link
    entries[Int(index)].link = position
    entries[Int(index)].isTaken = true
    slotOfPosition.append(index)
    return Slot(index: index, generation: entries[Int(index)].generation)
  }

  /// Removes the element called `slot`; nil when it is gone already.
  @discardableResult
  package mutating func remove(_ slot: Slot) -> Element? {
    guard let position = position(of: slot) else { return nil }
    let removed = elements[position]
    let last = elements.count - 1
    if position != last {
      elements[position] = elements[last]
      slotOfPosition[position] = slotOfPosition[last]
      entries[Int(slotOfPosition[position])].link = UInt32(position)
    }
    elements.removeLast()
    slotOfPosition.removeLast()
    entries[Int(slot.index)].isTaken = false
    entries[Int(slot.index)].generation &+= 1
    entries[Int(slot.index)].link = firstFree
    firstFree = slot.index
    return removed
  }

  /// The element called `slot`; nil when it is gone. Setting changes an element that is there.
  package subscript(slot: Slot) -> Element? {
    get { position(of: slot).map { elements[$0] } }
    set {
      guard let position = position(of: slot), let newValue else { return }
      elements[position] = newValue
    }
  }

  /// The name of the element at a position below `count`.
  package func slot(at position: Int) -> Slot {
    let index = slotOfPosition[position]
    return Slot(index: index, generation: entries[Int(index)].generation)
  }

  /// Changes the element called `slot` in place; nil when it is gone.
  package mutating func update<Result>(_ slot: Slot, _ body: (inout Element) -> Result) -> Result? {
    guard let position = position(of: slot) else { return nil }
    return body(&elements[position])
  }

  private func position(of slot: Slot) -> Int? {
    guard slot.index < entries.count else { return nil }
    let entry = entries[Int(slot.index)]
    return entry.isTaken && entry.generation == slot.generation ? Int(entry.link) : nil
  }
}

extension SlotArray: Sendable where Element: Sendable {}
