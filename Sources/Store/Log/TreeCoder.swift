internal import MartletChangeFeed
internal import MartletJSONTree

/// The bodies of the tree's changes in the log: the path's keys, then the rows of the value, each with its path below
/// it.
///
/// The rows stand in the tree's order, and each path is written as the bytes it adds to what it shares with the path
/// before it. A change that takes more bytes than an entry may have is divided: the first part replaces the node, the
/// others add rows to it.
enum TreeCoder {
  static func write(_ change: TreeChange, into writer: inout EntryWriter) {
    write(change.path, into: &writer)
    var rows: [LeafRow] = []
    change.node.forEachRow { rows.append($0) }
    writer.count(rows.count)
    var before: [UInt8] = []
    for row in rows {
      let path = PathKeyCoding.encode(row.path)
      let shared = shared(path, before)
      writer.count(shared)
      writer.blob(Array(path[shared...]))
      writer.blob(row.encodedValue)
      before = path
    }
  }

  private static func write(_ path: TreePath, into writer: inout EntryWriter) {
    writer.count(path.keys.count)
    for key in path.keys { writer.text(key.text) }
  }

  /// How many bytes two paths have in common at their beginning.
  private static func shared(_ path: [UInt8], _ other: [UInt8]) -> Int {
    var count = 0
    while count < path.count, count < other.count, path[count] == other[count] { count += 1 }
    return count
  }

  // MARK: Reading

  /// - Parameter repeatsPaths: whether each row has its whole path, as in entries of format 3.
  static func read(_ reader: inout EntryReader, repeatsPaths: Bool) throws(StoreError) -> TreeChange {
    var keys: [TreeKey] = []
    for _ in 0..<(try reader.count()) { keys.append(TreeKey(unchecked: try reader.text())) }
    var rows: [LeafRow] = []
    var before: [UInt8] = []
    for _ in 0..<(try reader.count()) {
      let shared = repeatsPaths ? 0 : try reader.number()
      guard shared >= 0, shared <= before.count else { throw EntryReader.damaged }
      let key = before[..<shared] + (try reader.blob())
      let value = try reader.blob()
      guard let path = PathKeyCoding.decode(key), let row = LeafRow(path: path, encodedValue: value) else {
        throw EntryReader.damaged
      }
      rows.append(row)
      before = Array(key)
    }
    return TreeChange(path: TreePath(keys), node: TreeNode(rows: rows))
  }

  // MARK: Parts

  /// The change in parts whose bodies have about `largest` bytes at most. A single leaf is not divided; it stays with
  /// the priorities of the nodes that begin with it, so that each part is a value of its own.
  static func parts(_ change: TreeChange, largest: Int) -> [TreeChange] {
    guard !change.node.isLeaf, !change.node.isEmpty else { return [change] }
    let empty = change.path.keys.reduce(16) { $0 + $1.text.utf8.count + 5 }
    var parts: [[LeafRow]] = [[]]
    var size = empty
    // Priorities of inner nodes, and then a leaf.
    var (run, runSize): ([LeafRow], Int) = ([], 0)
    var before: [UInt8] = []
    change.node.forEachRow { row in
      let path = PathKeyCoding.encode(row.path)
      // Three lengths of at most five bytes each.
      runSize += path.count - shared(path, before) + row.encodedValue.count + 15
      run.append(row)
      before = path
      guard row.scalar != nil else { return }
      if size + runSize > largest, parts[parts.count - 1].count > 0 {
        parts.append([])
        // The first path of a part is written whole.
        size = empty + path.count
      }
      parts[parts.count - 1] += run
      size += runSize
      (run, runSize) = ([], 0)
    }
    return parts.map { TreeChange(path: change.path, node: TreeNode(rows: $0)) }
  }
}

extension TreeChange {
  /// The change with the rows of a further part.
  func joined(with rest: TreeChange) -> TreeChange {
    var joined = self
    var priorities: [LeafRow] = []
    rest.node.forEachRow { row in
      if let scalar = row.scalar {
        joined.node = joined.node.setting(row.path, to: TreeNode(scalar, priority: row.priority))
      } else {
        priorities.append(row)
      }
    }
    for row in priorities {
      joined.node = joined.node.setting(row.path, to: joined.node.node(at: row.path).withPriority(row.priority))
    }
    return joined
  }
}

extension [Change] {
  /// Joins a further part of the tree's change that stands last here.
  mutating func join(_ rest: TreeChange, offset: Int64, endsTransaction: Bool) throws(StoreError) {
    guard let last = self.last, let first = last.tree else { throw EntryReader.damaged }
    self[count - 1] = Change(
      offset: offset, endsTransaction: endsTransaction, body: .tree(first.joined(with: rest)), time: last.time)
  }
}
