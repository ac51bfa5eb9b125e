import MartletJSON
package import MartletJSONTree
internal import MartletModels

extension Interest {
  /// What a write of the tree at a node says in place of a record: the first key of the node's path.
  private static let field = 0
  /// Stands for the root, which concerns every path. No key is like this.
  private static let everything = JSONValue.string("/")

  /// The interests of a subscription to the tree: writes whose paths begin with the same key, and those of the root.
  /// The rest of the path is the subscription's own to compare.
  package static func tree(_ path: TreePath) -> [Interest] {
    guard let key = path.first else { return [Interest(.tree)] }
    return [.string(key.text), everything].map { Interest(.tree, .compare(field: field, .eq($0))) }
  }

  fileprivate static func record(of change: TreeChange) -> Record {
    guard let key = change.path.first, !key.isPriority else { return Record(values: [everything]) }
    return Record(values: [.string(key.text)])
  }
}

extension Change {
  /// What conditions of the index are tried on for a change that is not a record's.
  var looked: Record { tree.map { Interest.record(of: $0) } ?? Record(values: []) }
}
