package import MartletJSON
package import MartletJSONTree

/// The query of a REST request for a node, `/PATH.json?…`.
package struct RESTQuery: Hashable, Sendable {
  package enum Printing: String, Sendable {
    case pretty
    /// No body: 204.
    case silent
  }

  /// How long a write may take, as it is estimated before it is made.
  package enum WriteSize: String, Sendable {
    case tiny, small, medium, large, unlimited

    /// Seconds; nil without a limit.
    package var seconds: Int? {
      switch self {
      case .tiny: 1
      case .small: 10
      case .medium: 30
      case .large: 60
      case .unlimited: nil
      }
    }
  }

  /// The part of the children that is asked for.
  package var window = Window.all
  /// Children are given as `true`, leaves as they are.
  package var isShallow = false
  package var printing: Printing?
  /// Priorities are part of the values.
  package var isExport = false
  package var timeout: Duration?
  package var writeSize: WriteSize?
  /// The name of the database, when the host does not say it.
  package var namespace: String?

  /// Reads the parameters of a request, names and values decoded. Unknown ones are ignored; credentials
  /// are judged before.
  ///
  /// - Throws: `RESTQueryError` with the message for the answer 400.
  package init(
    _ parameters: [(name: String, value: String)], at path: TreePath = .root, limits: TreeLimits = TreeLimits()
  ) throws(RESTQueryError) {
    var order: ChildOrder?
    for (name, value) in parameters where name == "orderBy" { order = try Self.order(value, limits) }
    window.order = order ?? .key
    for (name, value) in parameters {
      switch name {
      case "startAt", "startAfter", "endAt", "endBefore", "equalTo", "limitToFirst", "limitToLast":
        guard order != nil else {
          throw RESTQueryError("orderBy must be defined when other query parameters are defined")
        }
        try bound(name, value)
      case "shallow": isShallow = value == "true"
      case "print":
        guard let printing = Printing(rawValue: value) else { throw RESTQueryError("print is pretty or silent") }
        self.printing = printing
      case "format":
        guard value == "export" else { throw RESTQueryError("format is export") }
        isExport = true
      case "timeout": timeout = try Self.duration(value)
      case "writeSizeLimit":
        guard let size = WriteSize(rawValue: value) else {
          throw RESTQueryError("writeSizeLimit is tiny, small, medium, large or unlimited")
        }
        writeSize = size
      case "ns": namespace = value
      default: continue
      }
    }
    if isShallow, order != nil { throw RESTQueryError("shallow cannot be combined with other query parameters") }
    do { _ = try window.checked(at: path) } catch { throw RESTQueryError(error.description) }
  }

  private static func json(_ text: String, _ name: String) throws(RESTQueryError) -> JSONValue {
    do { return try JSONValue(parsing: text) } catch {
      throw RESTQueryError("\(name) must be a valid JSON value")
    }
  }

  private static func order(_ text: String, _ limits: TreeLimits) throws(RESTQueryError) -> ChildOrder {
    guard let name = try json(text, "orderBy").string else {
      throw RESTQueryError("orderBy must be a valid JSON encoded path")
    }
    switch name {
    case "$key": return .key
    case "$value": return .value
    case "$priority": return .priority
    default:
      guard let path = try? TreePath(wire: name, limits: limits), !path.isRoot else {
        throw RESTQueryError("orderBy must be a valid JSON encoded path")
      }
      return .child(path)
    }
  }

  private mutating func bound(_ name: String, _ text: String) throws(RESTQueryError) {
    switch name {
    case "limitToFirst", "limitToLast":
      guard let count = Int(text), count > 0 else { throw RESTQueryError("\(name) must be a positive integer") }
      guard window.limit == nil else { throw RESTQueryError("only one of limitToFirst and limitToLast can be used") }
      window.limit = name == "limitToFirst" ? .first(count) : .last(count)
    case "startAt", "startAfter":
      guard window.start == nil else { throw RESTQueryError("the start of the range is defined twice") }
      window.start = try bound(text, name, isIncluded: name == "startAt")
    case "endAt", "endBefore":
      guard window.end == nil else { throw RESTQueryError("the end of the range is defined twice") }
      window.end = try bound(text, name, isIncluded: name == "endAt")
    default:
      guard window.start == nil, window.end == nil else {
        throw RESTQueryError("equalTo cannot be combined with another range")
      }
      window.start = try bound(text, name, isIncluded: true)
      window.end = window.start
    }
  }

  private func bound(_ text: String, _ name: String, isIncluded: Bool) throws(RESTQueryError) -> Window.Bound {
    let json = try Self.json(text, name)
    if window.order == .key {
      guard let key = json.string else {
        throw RESTQueryError("\(name) must be a text when children are ordered by key")
      }
      return .key(TreeKey(unchecked: key), isIncluded: isIncluded)
    }
    if json.isNull { return Window.Bound(isIncluded: isIncluded) }
    guard let scalar = TreeScalar(json) else {
      throw RESTQueryError("\(name) must be null, a boolean, a number or a text")
    }
    return Window.Bound(value: .scalar(scalar), isIncluded: isIncluded)
  }

  /// `3ms`, `3s` or `3min`, at most 15 minutes.
  private static func duration(_ text: String) throws(RESTQueryError) -> Duration {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let units: [Substring: Int64] = ["ms": 1, "s": 1_000, "min": 60_000]
    guard let count = Int64(digits), let unit = units[text.dropFirst(digits.count)], count > 0,
      count <= 900_000 / unit
    else { throw RESTQueryError("timeout is a number with ms, s or min, at most 15min") }
    return .milliseconds(count * unit)
  }
}

/// Why a REST request's query was refused, as the answer says it.
package struct RESTQueryError: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}

extension RESTQuery {
  /// The node as the answer gives it.
  package func json(of node: TreeNode) -> JSONValue {
    if isShallow {
      guard !node.isLeaf, !node.isEmpty else { return node.json() }
      return .object(JSONObject(distinct: node.children.keys.map { ($0.text, true) }))
    }
    let part = window.isUnbounded ? node : OrderedChildren(node, order: window.order).node(in: window)
    return isExport ? part.exportedJSON() : part.json(asArrays: true)
  }
}
