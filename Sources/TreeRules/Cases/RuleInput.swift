package import MartletJSON
package import MartletJSONTree

/// Why the data, a path or a query of a test cannot be read.
package struct RuleInputError: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}

/// The data and the time for which rules are tested.
package struct RuleInput: Sendable {
  package let tree: NodeTree
  package let now: Int64

  package init(data: JSONValue, now: Int64) throws(RuleInputError) {
    self.now = now
    tree = NodeTree(try Self.wrapped { () throws(TreeError) in try TreeReader().read(data) })
  }

  package func context(_ auth: JSONValue) -> RuleContext { RuleContext(auth: auth, now: now, data: tree) }

  /// The write that puts `value` at `path`; server values are resolved.
  package func write(_ value: JSONValue, at path: TreePath) throws(RuleInputError) -> TreeWrite {
    let node = try Self.wrapped { () throws(TreeError) in
      try reader.read(value, at: path, existing: tree.root.node(at: path))
    }
    return TreeWrite(path: path, node: node)
  }

  /// The writes of a merge at `path`.
  package func writes(_ parts: JSONObject, at path: TreePath) throws(RuleInputError) -> [TreeWrite] {
    let writes = try Self.wrapped { () throws(TreeError) in
      try reader.readMerge(parts, at: path, existing: tree.root.node(at: path))
    }
    return writes.map { TreeWrite(path: path.appending($0.path), node: $0.node) }
  }

  private var reader: TreeReader { TreeReader(serverValues: ServerValues(milliseconds: now)) }

  package static func path(_ text: String) throws(RuleInputError) -> TreePath {
    try wrapped { () throws(TreeError) in try TreePath(wire: text) }
  }

  package static func key(_ text: String) throws(RuleInputError) -> TreeKey {
    try wrapped { () throws(TreeError) in try TreeKey(text) }
  }

  private static func wrapped<Value>(_ body: () throws(TreeError) -> Value) throws(RuleInputError) -> Value {
    do { return try body() } catch { throw RuleInputError(error.description) }
  }

  /// The window of a query that is written with the names of `query` in rules; nil without one.
  package static func window(_ query: JSONValue?) throws(RuleInputError) -> Window? {
    guard let members = query?.object else { return nil }
    var window = Window()
    if let child = members["orderByChild"]?.string { window.order = .child(try path(child)) }
    if members["orderByValue"]?.bool == true { window.order = .value }
    if members["orderByPriority"]?.bool == true { window.order = .priority }
    for (name, value) in members {
      switch QueryMember(rawValue: name) {
      case .startAt: window.start = try bound(value, window.order)
      case .endAt: window.end = try bound(value, window.order)
      case .equalTo:
        window.start = try bound(value, window.order)
        window.end = window.start
      case .limitToFirst: window.limit = .first(try count(value))
      case .limitToLast: window.limit = .last(try count(value))
      case .orderByChild, .orderByKey, .orderByValue, .orderByPriority: continue
      case nil: throw RuleInputError("the query parameter \(name) is not known")
      }
    }
    return window
  }

  private static func count(_ json: JSONValue) throws(RuleInputError) -> Int {
    guard let count = json.int.flatMap({ Int(exactly: $0) }), count > 0 else {
      throw RuleInputError("a limit is a number from 1, not \(json)")
    }
    return count
  }

  private static func bound(_ json: JSONValue, _ order: ChildOrder) throws(RuleInputError) -> Window.Bound {
    if order == .key {
      guard let text = json.string else { throw RuleInputError("a bound by key is a string, not \(json)") }
      return .key(try key(text))
    }
    return .including(TreeScalar(json).map { OrderValue.scalar($0) } ?? .null)
  }
}
