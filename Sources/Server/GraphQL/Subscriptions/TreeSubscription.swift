internal import MartletChangeFeed
internal import MartletGraphQLExecution
internal import MartletJSON
internal import MartletJSONTree

/// What a subscription to `treeChanged(path:)` is about: the writes at, above and below a path of the first tree.
struct TreeSubscription: Sendable {
  let path: TreePath

  /// - Throws: `ResolverError` for a path that cannot be one.
  init(_ arguments: JSONObject, _ limits: TreeLimits) throws {
    do {
      path = try TreePath(wire: arguments["path"]?.string ?? "", limits: limits)
    } catch {
      throw ResolverError("\(error)", extensions: ["code": "BAD_USER_INPUT"])
    }
  }

  /// The event of a change: where the value stands and the value itself; nil for a change elsewhere.
  func event(of change: TreeChange) -> JSONValue? {
    let isPriority = change.path.key?.isPriority == true
    if path.contains(change.path) { return Self.event(change.path, change.node) }
    guard !isPriority, let below = path.relative(to: change.path) else { return nil }
    return Self.event(path, change.node.node(at: below))
  }

  private static func event(_ path: TreePath, _ node: TreeNode) -> JSONValue {
    let value: JSONValue = node.isEmpty ? .null : .string(String(decoding: node.json().serialized(), as: UTF8.self))
    return ["path": .string(path.description), "value": value]
  }
}
