internal import MartletJSON
internal import MartletJSONTree

/// Reads the members of one step of a `TreeDriver`.
struct TreeStepReader {
  let step: JSONValue
  let basePath: String

  func type() throws(TreeDriverError) -> String {
    guard let type = step["type"]?.string else { throw TreeDriverError("a step has no type") }
    return type
  }

  var callbackID: String? {
    step["callbackId"].map { $0.string ?? $0.description }
  }

  var params: JSONValue? { step["params"] }
  var isVisible: Bool { step["visible"]?.bool ?? true }
  var isReverted: Bool { step["revert"]?.bool ?? false }
  var reason: String { step["reason"]?.string ?? "" }

  func writeID() throws(TreeDriverError) -> Int64 {
    guard let id = step["writeId"]?.int else { throw TreeDriverError("ackUserWrite has no writeId") }
    return id
  }

  func path() throws(TreeDriverError) -> TreePath {
    try Self.wrapped { () throws(TreeError) in try TreePath(wire: basePath + "/" + (step["path"]?.string ?? "")) }
  }

  func node() throws(TreeDriverError) -> TreeNode {
    try Self.wrapped { () throws(TreeError) in try TreeReader().read(step["data"] ?? .null) }
  }

  func parts() throws(TreeDriverError) -> [TreeWrite] {
    try Self.wrapped { () throws(TreeError) in try TreeReader().readMerge(step["data"]?.object ?? [:], at: .root) }
  }

  private static func wrapped<Value>(_ body: () throws(TreeError) -> Value) throws(TreeDriverError) -> Value {
    do { return try body() } catch { throw TreeDriverError(error.description) }
  }

  /// The window of `params`; nil without them.
  func window() throws(TreeDriverError) -> Window? {
    guard let params = params?.object else { return nil }
    var window = Window(order: .priority)
    if let child = (params["orderBy"] ?? params["orderByChild"])?.string {
      window.order = .child(try Self.wrapped { () throws(TreeError) in try TreePath(wire: child) })
    }
    if params["orderByKey"] != nil { window.order = .key }
    if params["orderByValue"] != nil { window.order = .value }
    for (name, value) in params {
      switch name {
      case "limitToFirst": window.limit = .first(Int(value.int ?? 0))
      case "limitToLast": window.limit = .last(Int(value.int ?? 0))
      case "startAt": window.start = bound(value, window.order, isIncluded: true)
      case "startAfter": window.start = bound(value, window.order, isIncluded: false)
      case "endAt": window.end = bound(value, window.order, isIncluded: true)
      case "endBefore": window.end = bound(value, window.order, isIncluded: false)
      case "equalTo":
        window.start = bound(value, window.order, isIncluded: true)
        window.end = window.start
      case "tag", "orderBy", "orderByChild", "orderByKey", "orderByValue", "orderByPriority": continue
      default: throw TreeDriverError("the query parameter \(name) is not known")
      }
    }
    let (checked, path) = (window, try path())
    return try Self.wrapped { () throws(TreeError) in try checked.checked(at: path) }
  }

  /// A bound of `{"index": value, "name": key}`, or of the value alone; in the order by key the index is the key.
  private func bound(_ json: JSONValue, _ order: ChildOrder, isIncluded: Bool) -> Window.Bound {
    let index = json.object == nil ? json : json["index"] ?? .null
    if order == .key {
      let key = (index.string ?? json["name"]?.string).map { TreeKey(unchecked: $0) }
      return Window.Bound(key: key, isIncluded: isIncluded)
    }
    let value = TreeScalar(index).map { OrderValue.scalar($0) } ?? .null
    return Window.Bound(
      value: value, key: json["name"]?.string.map { TreeKey(unchecked: $0) }, isIncluded: isIncluded)
  }
}
