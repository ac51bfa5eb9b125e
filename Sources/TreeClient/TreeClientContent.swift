package import MartletJSON
import MartletJSONTree
import MartletTreeWire

extension TreeClient {
  /// What a write puts into the tree.
  package enum Content: Hashable, Sendable {
    /// Replaces the node.
    case put(JSONValue)
    /// Replaces the nodes at several paths below it, as one write.
    case merge(JSONObject)
  }
}

extension TreeClient.Content {
  /// The tree's values in it.
  enum Value {
    case node(TreeNode)
    case parts([TreeWrite])

    /// Writes it into what listeners see.
    func write(to engine: inout TreeEngine, at path: TreePath, id: Int64) -> TreeEngine.Outcome {
      switch self {
      case .node(let node): engine.overwrite(path, with: node, id: id)
      case .parts(let parts): engine.merge(path, parts, id: id)
      }
    }
  }

  /// Reads the values.
  ///
  /// - Throws: what the tree does not accept.
  func read(by reader: TreeReader, at path: TreePath, existing: TreeNode = .empty) throws(TreeError) -> Value {
    switch self {
    case .put(let json): .node(try reader.read(json, at: path, existing: existing))
    case .merge(let object): .parts(try reader.readMerge(object, at: path, existing: existing))
    }
  }

  /// What the server is asked for.
  func request(at path: TreePath) -> TreeRequest {
    switch self {
    case .put(let json): .put(path, json, expectedHash: nil)
    case .merge(let object): .merge(path, object)
    }
  }

  /// What the server is asked for, to be made when the connection ends.
  func deferredRequest(at path: TreePath) -> TreeRequest {
    switch self {
    case .put(let json): .deferredPut(path, json)
    case .merge(let object): .deferredMerge(path, object)
    }
  }
}
