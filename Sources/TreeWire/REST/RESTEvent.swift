package import MartletJSON
package import MartletJSONTree

/// One event of a node's event stream.
package enum RESTEvent: Hashable, Sendable {
  /// The value at a path below the node was replaced. The first event of a stream is that of the whole node.
  case put(TreePath, JSONValue)
  /// Values below a path were replaced.
  case patch(TreePath, JSONObject)
  case keepAlive
  /// Reading is no longer allowed. The stream ends.
  case cancel
  /// The credential is no longer valid. The stream ends.
  case authRevoked(String)

  /// The event in the form of an event stream.
  package var bytes: [UInt8] {
    let (name, data): (String, JSONValue) =
      switch self {
      case .put(let path, let json): ("put", ["path": .string(path.description), "data": json])
      case .patch(let path, let object): ("patch", ["path": .string(path.description), "data": .object(object)])
      case .keepAlive: ("keep-alive", .null)
      case .cancel: ("cancel", .null)
      case .authRevoked(let reason): ("auth_revoked", .string(reason))
      }
    return Array("event: \(name)\ndata: \(data)\n\n".utf8)
  }
}
