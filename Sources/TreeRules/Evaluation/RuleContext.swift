package import MartletJSON
package import MartletJSONTree

/// What a rule is evaluated for.
package struct RuleContext {
  /// Null, or an object: `uid`, `provider` and `token` with the claims.
  package var auth: JSONValue
  /// Milliseconds since 1970. The same number is the timestamp that the write stores.
  package var now: Int64
  /// The window that is read; nil in writes.
  package var query: Window?
  /// The tree before the write.
  package var data: any RuleTree
  /// The tree after the write; nil in reads.
  package var newData: (any RuleTree)?

  package init(
    auth: JSONValue, now: Int64, query: Window? = nil, data: any RuleTree, newData: (any RuleTree)? = nil
  ) {
    self.auth = auth
    self.now = now
    self.query = query
    self.data = data
    self.newData = newData
  }
}

extension QueryMember {
  /// The value of this member for `window`; a read without one is ordered by key, without bounds.
  func value(in window: Window?) -> RuleValue {
    let window = window ?? .all
    switch self {
    case .orderByKey: return .bool(window.order == .key)
    case .orderByValue: return .bool(window.order == .value)
    case .orderByPriority: return .bool(window.order == .priority)
    case .orderByChild:
      guard case .child(let path) = window.order else { return .null }
      return .string(path.keys.map(\.text).joined(separator: "/"))
    case .startAt: return Self.value(window.start, window.order)
    case .endAt: return Self.value(window.end, window.order)
    case .equalTo: return window.start == window.end ? Self.value(window.start, window.order) : .null
    case .limitToFirst:
      guard case .first(let count) = window.limit else { return .null }
      return .int(Int64(count))
    case .limitToLast:
      guard case .last(let count) = window.limit else { return .null }
      return .int(Int64(count))
    }
  }

  private static func value(_ bound: Window.Bound?, _ order: ChildOrder) -> RuleValue {
    guard let bound else { return .null }
    if order == .key { return bound.key.map { .string($0.text) } ?? .null }
    guard case .scalar(let scalar) = bound.value else { return .null }
    return RuleValue(scalar)
  }
}
