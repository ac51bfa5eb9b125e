public import MartletJSON
internal import MartletJSONTree

/// A part of a node's children by key: the form of the original. `DatasyncWindow` has every other form.
public enum DatasyncChildrenConstraint: Hashable, Sendable {
  /// Every child.
  case all
  /// The first children.
  case first(limit: Int)
  /// The last children.
  case last(limit: Int)
  /// Children from a key on; of these the first.
  case startAt(key: String, limit: Int? = nil)
  /// Children up to a key; of these the last.
  case endAt(key: String, limit: Int? = nil)
  /// Children from a key to another, both included.
  case between(startKey: String, endKey: String)

  /// The window. A limit below one is ignored.
  public var window: DatasyncWindow {
    switch self {
    case .all: .all
    case .first(let limit): limit > 0 ? .first(limit) : .all
    case .last(let limit): limit > 0 ? .last(limit) : .all
    case .startAt(let key, let limit): DatasyncWindow(from: key).limited(limit.map { ($0, false) })
    case .endAt(let key, let limit): DatasyncWindow(through: key).limited(limit.map { ($0, true) })
    case .between(let start, let end): DatasyncWindow(from: start, through: end)
    }
  }
}

/// A part of a node's children: an order, a range and a limit.
///
/// ```swift
/// let latest = DatasyncWindow.last(50)
/// let adults = DatasyncWindow(by: .child("age"), from: 18).first(100)
/// ```
public struct DatasyncWindow: Hashable, Sendable {
  /// What children are ordered by; equal ones by key.
  public enum Order: Hashable, Sendable {
    /// Their keys.
    case key
    /// A value below them, such as `age` or `name/last`.
    case child(String)
    /// Their values.
    case value
    /// The priorities of the Realtime Database.
    case priority
  }

  private enum Limit: Hashable { case first(Int), last(Int) }

  private var order = Order.key
  private var start: JSONValue?
  private var end: JSONValue?
  private var limit: Limit?

  /// Every child.
  public static let all = DatasyncWindow()
  /// The first `count` children by key.
  public static func first(_ count: Int) -> DatasyncWindow { DatasyncWindow().first(count) }
  /// The last `count` children by key.
  public static func last(_ count: Int) -> DatasyncWindow { DatasyncWindow().last(count) }

  /// Every child, in an order.
  public init(by order: Order = .key) { self.order = order }

  /// Children between two order values, both included; nil leaves that side open.
  public init(by order: Order = .key, from start: JSONValue? = nil, through end: JSONValue? = nil) {
    (self.order, self.start, self.end) = (order, start, end)
  }

  /// Children between two keys, both included; nil leaves that side open.
  init(from start: String? = nil, through end: String? = nil) {
    (self.start, self.end) = (start.map { .string($0) }, end.map { .string($0) })
  }

  /// Children whose order value is `value`.
  public init(by order: Order, equalTo value: JSONValue) {
    (self.order, start, end) = (order, value, value)
  }

  /// Of these children the first `count`.
  public func first(_ count: Int) -> DatasyncWindow {
    var window = self
    window.limit = .first(count)
    return window
  }

  /// Of these children the last `count`.
  public func last(_ count: Int) -> DatasyncWindow {
    var window = self
    window.limit = .last(count)
    return window
  }

  func limited(_ limit: (count: Int, fromEnd: Bool)?) -> DatasyncWindow {
    guard let limit, limit.count > 0 else { return self }
    return limit.fromEnd ? last(limit.count) : first(limit.count)
  }

  /// - Throws: `invalid` for a bound that cannot be one, naming it.
  func checked(at path: TreePath) throws(DatasyncError) -> Window {
    do throws(TreeError) {
      var window = Window(order: try childOrder())
      window.start = try start.map { json throws(TreeError) in try bound(json, at: path) }
      window.end = try end.map { json throws(TreeError) in try bound(json, at: path) }
      switch limit {
      case .first(let count)?: window.limit = .first(count)
      case .last(let count)?: window.limit = .last(count)
      case nil: break
      }
      return window.isUnbounded ? Window(order: window.order) : try window.checked(at: path)
    } catch {
      throw DatasyncError(error)
    }
  }

  private func childOrder() throws(TreeError) -> ChildOrder {
    switch order {
    case .key: .key
    case .value: .value
    case .priority: .priority
    case .child(let path): .child(try TreePath(path))
    }
  }

  private func bound(_ json: JSONValue, at path: TreePath) throws(TreeError) -> Window.Bound {
    if order == .key {
      guard let text = json.string else { throw TreeError(.invalidWindow, at: path, text: "the key \(json)") }
      return .key(try TreeKey(text, under: path))
    }
    guard let scalar = TreeScalar(json) else {
      guard json.isNull else { throw TreeError(.invalidWindow, at: path, text: "the bound \(json)") }
      return .including(.null)
    }
    return .including(.scalar(scalar))
  }
}
