import MartletJSON
package import MartletJSONTree
import MartletWire

/// The hashes of a node's leaves by ranges. A client that has most of a large node sends them, and is sent the ranges
/// that differ instead of the whole node.
///
/// The text of a range nests its leaves in key order: `("KEY":(…),"KEY":(…))`, in the innermost parentheses the leaf as
/// `TYPE:VALUE`, strings and keys between quotes with `\` before `"` and `\`. A priority stands before its leaf as
/// `priority:TYPE:VALUE:`, or as the child `.priority` of a node with children. A range without leaves has the hash "".
package struct CompoundHash: Hashable, Sendable {
  /// The last leaf of each range, relative to the node; what comes after the last one is a range as well.
  package let paths: [TreePath]
  /// One more than paths.
  package let hashes: [String]

  /// - Returns: nil when the counts do not fit or the paths are not in order.
  package init?(paths: [TreePath], hashes: [String]) {
    guard hashes.count == paths.count + 1, zip(paths, paths.dropFirst()).allSatisfy({ $0 < $1 }) else { return nil }
    self.paths = paths
    self.hashes = hashes
  }

  /// The hashes of a node that a client has.
  ///
  /// - Parameter rangeBytes: about how long the text of a range is; nil takes what clients of the Realtime Database
  ///   take, the larger of 512 and the root of a hundred times the node's size.
  package init(_ node: TreeNode, rangeBytes: Int? = nil) {
    let leaves = HashedLeaf.all(of: node)
    let size = leaves.reduce(0) { $0 + $1.size }
    let most = rangeBytes ?? max(512, Int(Double(size * 100).squareRoot()))
    var (paths, hashes): ([TreePath], [String]) = ([], [])
    var (range, length): ([HashedLeaf], Int) = ([], 0)
    for leaf in leaves {
      range.append(leaf)
      length += leaf.size
      guard length > most, leaf.path.key?.isPriority != true else { continue }
      paths.append(leaf.path)
      hashes.append(HashedLeaf.hash(range[...]))
      (range, length) = ([], 0)
    }
    // What comes after the last leaf is empty here; the ranges always cover everything.
    if let last = range.last {
      paths.append(last.path)
      hashes.append(HashedLeaf.hash(range[...]))
    }
    hashes.append("")
    self.paths = paths
    self.hashes = hashes
  }

  /// The ranges in which `node` differs from the node that was hashed, with what stands there now; nil when ranges
  /// cannot say it, because one would hold the priority of a node and none of its leaves.
  package func differences(from node: TreeNode) -> [LeafRange]? {
    var rest = HashedLeaf.all(of: node)[...]
    var found: [LeafRange] = []
    for (index, hash) in hashes.enumerated() {
      let end = index < paths.count ? paths[index] : nil
      let leaves = end.map { end in rest.prefix { $0.path <= end } } ?? rest
      rest = rest.dropFirst(leaves.count)
      guard HashedLeaf.hash(leaves) != hash else { continue }
      let start = index > 0 ? paths[index - 1] : nil
      let replacement = node.leaves(after: start, through: end)
      var rows = 0
      replacement.forEachRow { _ in rows += 1 }
      guard rows == leaves.count else { return nil }
      found.append(LeafRange(start: start, end: end, replacement: replacement))
    }
    return found
  }

  /// Reads `{"ps": […], "hs": […]}`; nil when it is not such an object.
  init?(_ json: JSONValue?, limits: TreeLimits) {
    guard let paths = json?["ps"]?.array, let hashes = json?["hs"]?.array else { return nil }
    let read = paths.compactMap { path in path.string.flatMap { try? TreePath(wire: $0, limits: limits) } }
    guard read.count == paths.count else { return nil }
    self.init(paths: read, hashes: hashes.compactMap(\.string))
  }

  var json: JSONValue {
    [
      "ps": .array(paths.map { .string($0.keys.map(\.text).joined(separator: "/")) }),
      "hs": .array(hashes.map { .string($0) }),
    ]
  }
}

/// One leaf of a node, or the priority of one with children.
private struct HashedLeaf {
  let path: TreePath
  let text: [UInt8]

  /// About what the leaf adds to the text of its range.
  var size: Int { text.count + (path.key?.text.utf8.count ?? 0) + 5 }

  static func all(of node: TreeNode) -> [HashedLeaf] {
    var leaves: [HashedLeaf] = []
    collect(node, at: .root, into: &leaves)
    return leaves
  }

  private static func collect(_ node: TreeNode, at path: TreePath, into leaves: inout [HashedLeaf]) {
    if let scalar = node.scalar {
      var text: [UInt8] = []
      if let priority = node.priority { text = Array("priority:".utf8) + representation(priority) + Array(":".utf8) }
      leaves.append(HashedLeaf(path: path, text: text + representation(scalar)))
      return
    }
    var priority = node.priority
    node.children.forEach { key, child in
      // The priority stands among the children, in key order.
      if let value = priority, TreeKey.priority < key {
        leaves.append(HashedLeaf(path: path.child(.priority), text: representation(value)))
        priority = nil
      }
      collect(child, at: path.child(key), into: &leaves)
      return true
    }
    if let priority { leaves.append(HashedLeaf(path: path.child(.priority), text: representation(priority))) }
  }

  private static func representation(_ scalar: TreeScalar) -> [UInt8] {
    guard case .string(let text) = scalar else { return TreeHash.representation(scalar) }
    return Array("string:".utf8) + quoted(text)
  }

  private static func quoted(_ text: String) -> [UInt8] {
    var bytes = [UInt8(ascii: "\"")]
    for byte in text.utf8 {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
      bytes.append(byte)
    }
    return bytes + [UInt8(ascii: "\"")]
  }

  static func hash(_ leaves: ArraySlice<HashedLeaf>) -> String {
    if leaves.isEmpty { return "" }
    var text: [UInt8] = []
    nest(leaves, depth: 0, into: &text)
    return Base64.encode(SHA1.digest(text))
  }

  private static func nest(_ leaves: ArraySlice<HashedLeaf>, depth: Int, into text: inout [UInt8]) {
    text.append(UInt8(ascii: "("))
    var (rest, isFirst) = (leaves, true)
    while let leaf = rest.first {
      guard depth < leaf.path.keys.count else {
        text += leaf.text
        break
      }
      let key = leaf.path.keys[depth]
      let group = rest.prefix { $0.path.keys[depth] == key }
      rest = rest.dropFirst(group.count)
      if !isFirst { text.append(UInt8(ascii: ",")) }
      isFirst = false
      text += quoted(key.text) + Array(":".utf8)
      nest(group, depth: depth + 1, into: &text)
    }
    text.append(UInt8(ascii: ")"))
  }
}
