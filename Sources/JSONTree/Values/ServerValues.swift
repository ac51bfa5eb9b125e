package import MartletJSON

/// What `{".sv": "timestamp"}` and `{".sv": {"increment": n}}` stand for at one moment. The server resolves them when
/// it commits; a client shows an estimate until then.
package struct ServerValues: Hashable, Sendable {
  /// The server's time in milliseconds since 1970.
  package var milliseconds: Int64

  package init(milliseconds: Int64) {
    self.milliseconds = milliseconds
  }

  /// The value of the operation `json`, the member `.sv`; nil when it is none.
  ///
  /// An increment of what is not a number stores the step. Integers that overflow continue as doubles.
  package func resolve(_ json: JSONValue, existing: TreeScalar?) -> TreeScalar? {
    switch json {
    case .string(let name): return name == "timestamp" ? .int(milliseconds) : nil
    case .object(let object):
      guard object.count == 1, let step = object["increment"].flatMap(TreeScalar.init), step.number != nil else {
        return nil
      }
      return Self.sum(existing, step)
    case .null, .bool, .int, .uint, .double, .array: return nil
    }
  }

  private static func sum(_ existing: TreeScalar?, _ step: TreeScalar) -> TreeScalar? {
    guard let existing, let left = existing.number, let right = step.number else { return step }
    if case .int(let a) = existing, case .int(let b) = step {
      let (sum, overflow) = a.addingReportingOverflow(b)
      if !overflow { return .int(sum) }
    }
    // A sum beyond the doubles keeps the old value: nothing else could be stored.
    return TreeScalar(left + right) ?? existing
  }
}

/// One value at one path, as part of a write.
package struct TreeWrite: Hashable, Sendable {
  /// Relative to the write's node.
  package var path: TreePath
  package var node: TreeNode

  package init(path: TreePath, node: TreeNode) {
    self.path = path
    self.node = node
  }
}

extension TreeNode: Hashable {
  package func hash(into hasher: inout Hasher) {
    hasher.combine(priority)
    switch content {
    case .empty: hasher.combine(0)
    case .leaf(let scalar): hasher.combine(scalar)
    case .children(let children): hasher.combine(children.count)
    }
  }
}
