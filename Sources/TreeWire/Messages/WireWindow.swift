package import MartletJSON
package import MartletJSONTree

/// Windows in the protocol's form: `sp`, `sn`, `sin` for the start, `ep`, `en`, `ein` for the end, `l` and `vf` for the
/// limit, `i` for the order (a child path, `.key`, `.value`; the priority without it).
package enum WireWindow {
  /// The query of a window; nil for a whole node.
  package static func json(of window: Window) -> JSONValue? {
    if window.isUnbounded { return nil }
    var query = JSONObject()
    if let start = window.start { add(start, window.order, "sp", "sn", "sin", to: &query) }
    if let end = window.end { add(end, window.order, "ep", "en", "ein", to: &query) }
    if let limit = window.limit {
      query["l"] = .int(Int64(limit.count))
      query["vf"] = window.isFilledFromEnd ? "r" : "l"
    }
    switch window.order {
    case .key: query["i"] = ".key"
    case .value: query["i"] = ".value"
    case .priority: break
    case .child(let path): query["i"] = .string(path.keys.map(\.text).joined(separator: "/"))
    }
    return .object(query)
  }

  private static func add(
    _ bound: Window.Bound, _ order: ChildOrder, _ value: String, _ name: String, _ included: String,
    to query: inout JSONObject
  ) {
    if order == .key {
      query[value] = bound.key.map { .string($0.text) } ?? .null
    } else {
      if case .scalar(let scalar) = bound.value { query[value] = scalar.json } else { query[value] = .null }
      if let key = bound.key { query[name] = .string(key.text) }
    }
    if !bound.isIncluded { query[included] = false }
  }

  /// Reads a query; none is the whole node.
  package static func read(
    _ json: JSONValue?, at path: TreePath, limits: TreeLimits = TreeLimits()
  ) throws(TreeWireError) -> Window {
    guard let query = json?.object, !query.isEmpty else {
      if let json, json.object == nil { throw TreeWireError(.malformedMessage, "q is not an object") }
      return .all
    }
    do { return try window(query, at: path, limits) } catch {
      throw TreeWireError(.invalidTree, error.description)
    }
  }

  private static func window(
    _ query: JSONObject, at path: TreePath, _ limits: TreeLimits
  ) throws(TreeError) -> Window {
    var window = Window(order: try order(query["i"], at: path, limits))
    if query["sp"] != nil { window.start = try bound(query, "sp", "sn", "sin", window.order, at: path, limits) }
    if query["ep"] != nil { window.end = try bound(query, "ep", "en", "ein", window.order, at: path, limits) }
    if let limit = query["l"] {
      guard let number = limit.int, let count = Int(exactly: number) else {
        throw TreeError(.invalidWindow, at: path, text: "l \(limit)")
      }
      // Without a side a limit counts from the start, unless only an end is given.
      var isFromEnd = window.start == nil && window.end != nil
      if let side = query["vf"], !side.isNull {
        guard side == "l" || side == "r" else { throw TreeError(.invalidWindow, at: path, text: "vf \(side)") }
        isFromEnd = side == "r"
      }
      window.limit = isFromEnd ? .last(count) : .first(count)
    }
    return window.isUnbounded ? .all : try window.checked(at: path)
  }

  private static func order(
    _ json: JSONValue?, at path: TreePath, _ limits: TreeLimits
  ) throws(TreeError) -> ChildOrder {
    guard let json else { return .priority }
    guard let text = json.string else { throw TreeError(.invalidWindow, at: path, text: "i \(json)") }
    switch text {
    case ".key": return .key
    case ".value": return .value
    case ".priority": return .priority
    default: return .child(try TreePath(wire: text, limits: limits))
    }
  }

  private static func bound(
    _ query: JSONObject, _ value: String, _ name: String, _ included: String, _ order: ChildOrder,
    at path: TreePath, _ limits: TreeLimits
  ) throws(TreeError) -> Window.Bound {
    let isIncluded = query[included]?.bool ?? true
    let json = query[value] ?? .null
    if order == .key {
      guard let text = json.string else { throw TreeError(.invalidWindow, at: path, text: "\(value) \(json)") }
      return .key(TreeKey(unchecked: text), isIncluded: isIncluded)
    }
    let scalar = TreeScalar(json)
    guard scalar != nil || json.isNull else { throw TreeError(.invalidWindow, at: path, text: "\(value) \(json)") }
    let key = query[name]?.string.map { TreeKey(unchecked: $0) }
    return Window.Bound(value: scalar.map { .scalar($0) } ?? .null, key: key, isIncluded: isIncluded)
  }
}
