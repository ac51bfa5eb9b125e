/// The part of a node's children that a listener asks for: an order, a range and a limit.
///
/// ```swift
/// let latest = Window(limit: .last(50))
/// let adults = Window(order: .child("age"), start: .including(.scalar(.int(18))))
/// ```
package struct Window: Hashable, Sendable {
  /// One end of the range.
  package struct Bound: Hashable, Sendable {
    /// The order value; of no meaning when the order is by key.
    package var value: OrderValue
    /// Decides between children of equal value; nil includes (or excludes) all of them.
    package var key: TreeKey?
    /// Whether the child exactly at this bound belongs to the range.
    package var isIncluded: Bool

    package init(value: OrderValue = .null, key: TreeKey? = nil, isIncluded: Bool = true) {
      self.value = value
      self.key = key
      self.isIncluded = isIncluded
    }

    package static func including(_ value: OrderValue, key: TreeKey? = nil) -> Bound {
      Bound(value: value, key: key)
    }
    package static func excluding(_ value: OrderValue, key: TreeKey? = nil) -> Bound {
      Bound(value: value, key: key, isIncluded: false)
    }
    /// A bound of a window ordered by key.
    package static func key(_ key: TreeKey, isIncluded: Bool = true) -> Bound {
      Bound(key: key, isIncluded: isIncluded)
    }
  }

  package enum Limit: Hashable, Sendable {
    case first(Int)
    case last(Int)

    package var count: Int {
      switch self {
      case .first(let count), .last(let count): count
      }
    }
  }

  package var order: ChildOrder
  package var start: Bound?
  package var end: Bound?
  package var limit: Limit?

  package init(order: ChildOrder = .key, start: Bound? = nil, end: Bound? = nil, limit: Limit? = nil) {
    self.order = order
    self.start = start
    self.end = end
    self.limit = limit
  }

  /// All children in key order.
  package static let all = Window()

  /// The children whose order value is `value`; with a key, that one child.
  package static func equal(to value: OrderValue, key: TreeKey? = nil, order: ChildOrder) -> Window {
    Window(order: order, start: .including(value, key: key), end: .including(value, key: key))
  }

  /// Whether the window contains every child, in whatever order.
  package var isUnbounded: Bool { start == nil && end == nil && limit == nil }

  /// Whether the limit cuts at the start of the range, so that the window is filled from its end.
  package var isFilledFromEnd: Bool {
    if case .last = limit { true } else { false }
  }

  /// Refuses limits below one, bounds without a key in a window by key, and bounds that are objects.
  package func checked(at path: TreePath) throws(TreeError) -> Window {
    if let limit, limit.count < 1 { throw TreeError(.invalidWindow, at: path, text: "limit \(limit.count)") }
    for bound in [start, end] {
      guard let bound else { continue }
      if order == .key, bound.key == nil { throw TreeError(.invalidWindow, at: path, text: "a bound without a key") }
      if bound.value == .object { throw TreeError(.invalidWindow, at: path, text: "a bound that is an object") }
    }
    return self
  }

  /// Whether a child at `position` belongs to the range; the limit is not considered.
  package func contains(_ position: ChildPosition) -> Bool {
    !isBeforeStart(position) && !isAfterEnd(position)
  }

  package func isBeforeStart(_ position: ChildPosition) -> Bool {
    guard let start else { return false }
    if order != .key, position.value != start.value { return position.value < start.value }
    guard let key = start.key else { return !start.isIncluded }
    return start.isIncluded ? position.key < key : position.key <= key
  }

  package func isAfterEnd(_ position: ChildPosition) -> Bool {
    guard let end else { return false }
    if order != .key, position.value != end.value { return end.value < position.value }
    guard let key = end.key else { return !end.isIncluded }
    return end.isIncluded ? key < position.key : key <= position.key
  }
}
