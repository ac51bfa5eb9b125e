import MartletJSON
import MartletVocabulary

@testable import MartletJSONTree

/// The tree's rules in the simplest form, to compare the engine with: dictionaries, sorting, filtering.
indirect enum NaiveTree: Equatable {
  case none
  case leaf(Int)
  case inner([String: NaiveTree])

  var isNone: Bool { self == .none }

  func child(_ key: String) -> NaiveTree {
    if case .inner(let children) = self { children[key] ?? .none } else { .none }
  }

  func at(_ path: [String]) -> NaiveTree { path.reduce(self) { $0.child($1) } }

  func setting(_ path: [String], _ value: NaiveTree) -> NaiveTree {
    guard let key = path.first else { return value }
    var children: [String: NaiveTree] = [:]
    if case .inner(let old) = self { children = old }
    let child = child(key).setting(Array(path.dropFirst()), value)
    if child.isNone, case .leaf = self { return self }
    children[key] = child.isNone ? nil : child
    return children.isEmpty ? .none : .inner(children)
  }

  var node: TreeNode {
    switch self {
    case .none: return .empty
    case .leaf(let value): return TreeNode(.int(Int64(value)))
    case .inner(let children):
      return children.reduce(TreeNode.empty) { $0.setting(TreeKey(unchecked: $1.key), to: $1.value.node) }
    }
  }

  /// Keys in the window's order, found by sorting and filtering.
  func keys(in window: Window) -> [String] {
    guard case .inner(let children) = self else { return [] }
    var sorted = children.map { Self.rank($0.key, $0.value, window.order) }.sorted { Self.isBefore($0, $1) }
    sorted = sorted.filter { Self.contains(window, $0) }
    switch window.limit {
    case .first(let count): sorted = Array(sorted.prefix(count))
    case .last(let count): sorted = Array(sorted.suffix(count))
    case nil: break
    }
    return sorted.map(\.key)
  }

  typealias Rank = (kind: Int, value: Int, key: String)

  private static func rank(_ key: String, _ child: NaiveTree, _ order: ChildOrder) -> Rank {
    let value: NaiveTree =
      switch order {
      case .key, .priority: .none
      case .value: child
      case .child(let path): child.at(path.keys.map(\.text))
      }
    switch value {
    case .none: return (0, 0, key)
    case .leaf(let value): return (1, value, key)
    case .inner: return (2, 0, key)
    }
  }

  private static func isBefore(_ left: Rank, _ right: Rank) -> Bool {
    if left.kind != right.kind { return left.kind < right.kind }
    if left.value != right.value { return left.value < right.value }
    switch (Int(left.key), Int(right.key)) {
    case (let one?, let two?): return one < two
    case (.some, nil): return true
    case (nil, .some): return false
    case (nil, nil): return left.key < right.key
    }
  }

  private static func contains(_ window: Window, _ rank: Rank) -> Bool {
    func bound(_ bound: Window.Bound, _ missing: String?) -> Rank {
      let key = bound.key?.text ?? missing ?? ""
      if window.order == .key { return (0, 0, key) }
      switch bound.value {
      case .null: return (0, 0, key)
      case .scalar(.int(let value)): return (1, Int(value), key)
      case .scalar, .object: return (2, 0, key)
      }
    }
    func sameValue(_ one: Rank, _ two: Rank) -> Bool { one.kind == two.kind && one.value == two.value }
    if let start = window.start {
      let low = bound(start, nil)
      if start.key == nil, sameValue(low, rank) { return start.isIncluded && !isBeyondEnd() }
      if isBefore(rank, low) || (rank == low && !start.isIncluded) { return false }
    }
    func isBeyondEnd() -> Bool {
      guard let end = window.end else { return false }
      let high = bound(end, nil)
      if end.key == nil, sameValue(high, rank) { return !end.isIncluded }
      return isBefore(high, rank) || (rank == high && !end.isIncluded)
    }
    return !isBeyondEnd()
  }

  /// A small random tree over few keys and values, so that ties and collisions are common.
  static func random(_ chance: inout SeededRandom, depth: Int) -> NaiveTree {
    if depth == 0 || chance.below(3) == 0 { return chance.below(5) == 0 ? .none : .leaf(chance.below(4)) }
    var result = NaiveTree.none
    for _ in 0..<chance.below(5) {
      result = result.setting([chance.key()], random(&chance, depth: depth - 1))
    }
    return result
  }
}

extension SeededRandom {
  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

  mutating func key() -> String { ["1", "2", "10", "a", "b", "c"][below(6)] }

  mutating func path(_ most: Int) -> [String] { (0..<below(most + 1)).map { _ in key() } }

  mutating func window() -> Window {
    var window = Window()
    window.order = [.key, .value, .child(TreePath(["a"])), .child(TreePath(["b", "a"])), .key][below(5)]
    func bound(_ chance: inout SeededRandom) -> Window.Bound {
      let key: TreeKey? = window.order == .key || chance.below(2) == 0 ? TreeKey(unchecked: chance.key()) : nil
      let value: OrderValue = chance.below(4) == 0 ? .null : .scalar(.int(Int64(chance.below(4))))
      return Window.Bound(value: window.order == .key ? .null : value, key: key, isIncluded: chance.below(3) > 0)
    }
    if below(3) == 0 { window.start = bound(&self) }
    if below(3) == 0 { window.end = bound(&self) }
    switch below(4) {
    case 0: window.limit = .first(1 + below(3))
    case 1: window.limit = .last(1 + below(3))
    default: break
    }
    return window
  }
}
