internal import MartletChangeFeed
internal import MartletJSONTree

/// The bodies of the tree's changes in the log: the path's keys, then the rows of the value, each with its path below
/// it.
enum TreeCoder {
  static func write(_ change: TreeChange, into writer: inout EntryWriter) {
    writer.count(change.path.keys.count)
    for key in change.path.keys { writer.text(key.text) }
    var rows: [LeafRow] = []
    change.node.forEachRow { rows.append($0) }
    writer.count(rows.count)
    for row in rows {
      writer.blob(PathKeyCoding.encode(row.path))
      writer.blob(row.encodedValue)
    }
  }

  static func read(_ reader: inout EntryReader) throws(StoreError) -> TreeChange {
    var keys: [TreeKey] = []
    for _ in 0..<(try reader.count()) { keys.append(TreeKey(unchecked: try reader.text())) }
    var rows: [LeafRow] = []
    for _ in 0..<(try reader.count()) {
      let (key, value) = (try reader.blob(), try reader.blob())
      guard let path = PathKeyCoding.decode(key), let row = LeafRow(path: path, encodedValue: value) else {
        throw EntryReader.damaged
      }
      rows.append(row)
    }
    return TreeChange(path: TreePath(keys), node: TreeNode(rows: rows))
  }
}
