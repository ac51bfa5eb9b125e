/// The server's side of one window: which children it holds, and how that changes with each write, without sending the
/// window again and without keeping values.
///
/// The caller gives order values, as its store has them after the write, and sends what the update names: the values of
/// the children that entered, the written parts of those that changed, and the keys of those that left.
package struct ServedWindow: Sendable {
  /// What one write does to a window.
  package struct Update: Hashable, Sendable {
    package var left: [TreeKey] = []
    /// To be sent whole, in the window's order.
    package var entered: [TreeKey] = []
    /// They stay, and only what was written of them is to be sent.
    package var changed: [TreeKey] = []

    package var isEmpty: Bool { left.isEmpty && entered.isEmpty && changed.isEmpty }
  }

  /// A child that a write touched; without an order value it no longer exists.
  package struct Change: Hashable, Sendable {
    package var key: TreeKey
    package var value: OrderValue?

    package init(_ key: TreeKey, _ value: OrderValue?) {
      self.key = key
      self.value = value
    }
  }

  package let window: Window
  private var positions = SortedMap<ChildPosition, Bool>()
  private var byKey: [TreeKey: ChildPosition] = [:]

  /// - Parameter children: the children inside the window at first.
  package init(_ window: Window, children: some Sequence<ChildPosition>) {
    self.window = window
    for position in children { insert(position) }
  }

  package var count: Int { byKey.count }
  /// The children's keys in the window's order.
  package var keys: [TreeKey] { positions.keys.map(\.key) }

  private mutating func insert(_ position: ChildPosition) {
    positions = positions.setting(position, to: true)
    byKey[position.key] = position
  }

  private mutating func remove(_ key: TreeKey) {
    guard let position = byKey.removeValue(forKey: key) else { return }
    positions = positions.removing(position)
  }

  /// The child at the side where the limit cuts.
  private var boundary: ChildPosition? {
    window.isFilledFromEnd ? positions.first?.key : positions.last?.key
  }

  private func isInside(_ one: ChildPosition, _ two: ChildPosition) -> Bool {
    window.isFilledFromEnd ? two < one : one < two
  }

  /// Takes the effect of one write.
  ///
  /// - Parameters:
  ///   - changes: the children it touched, each once.
  ///   - next: the child of the node beyond a position, in the store as it is after the write; before it when the
  ///     window is filled from its end. It is asked at most once for each child that left and each that changed.
  package mutating func apply(
    _ changes: [Change], next: (ChildPosition) -> ChildPosition?
  ) -> Update {
    let before = byKey
    // Children that did not change and are outside a full window stand beyond this position.
    let oldBoundary = window.limit.map { count >= $0.count } == true ? boundary : nil
    for change in changes {
      remove(change.key)
      guard let value = change.value else { continue }
      let position = ChildPosition(value: value, key: change.key)
      if window.contains(position) { insert(position) }
    }
    if let limit = window.limit?.count {
      if let oldBoundary { fill(limit, beyond: oldBoundary, changes, next) }
      while count > limit, let last = boundary { remove(last.key) }
    }
    return update(from: before, changes)
  }

  private mutating func fill(
    _ limit: Int, beyond start: ChildPosition, _ changes: [Change], _ next: (ChildPosition) -> ChildPosition?
  ) {
    var cursor = start
    let touched = Set(changes.map(\.key))
    while needsMore(limit, beyond: cursor), let found = next(cursor) {
      cursor = found
      if touched.contains(found.key) || byKey[found.key] != nil { continue }
      guard window.contains(found) else { return }
      insert(found)
    }
  }

  /// Whether a child beyond `cursor` could belong to the window.
  private func needsMore(_ limit: Int, beyond cursor: ChildPosition) -> Bool {
    guard count >= limit else { return true }
    let rank = window.isFilledFromEnd ? count - limit : limit - 1
    return positions.entry(at: rank).map { isInside(cursor, $0.key) } ?? false
  }

  private func update(from before: [TreeKey: ChildPosition], _ changes: [Change]) -> Update {
    var update = Update()
    if positions.count < before.count || !changes.isEmpty {
      update.left = before.filter { byKey[$0.key] == nil }.values.sorted().map(\.key)
      update.entered = byKey.filter { before[$0.key] == nil }.values.sorted().map(\.key)
      update.changed = changes.map(\.key).filter { byKey[$0] != nil && before[$0] != nil }
    }
    return update
  }
}
