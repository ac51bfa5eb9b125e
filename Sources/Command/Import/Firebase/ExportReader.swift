import MartletChangeFeed
import MartletCommandLine
import MartletJSON
import MartletJSONTree

/// Reads the JSON export of a database as the writes that make the same tree, in the order of the file.
///
/// A node is one write while it is small. A large one is written child by child, so that what is held at a time is a
/// bounded part for each level, and one text.
struct ExportReader {
  /// Weight of the children of one node that are held; more are written one by one. About as many leaves.
  static let heldWeight = 1_000
  /// Bytes of text that weigh as much as a leaf.
  private static let bytesOfLeaf = 256

  private struct Frame {
    var key: TreeKey?
    /// The next position of an array; nil for an object.
    var position: Int?
    var held = TreeNode.empty
    var weight = 0
    /// The children before these were written by themselves.
    var isDivided = false
    var leaf: TreeNode?
    var priority: TreeScalar?
    /// Whether a value may follow without a comma.
    var isFirst = true
  }

  private let source: ByteSource
  private let base: TreePath
  private let limits: TreeLimits
  private var frames: [Frame] = []
  private var changes: [TreeChange] = []
  private var isOver = false
  /// Leaves that were read.
  private(set) var leaves = 0
  /// The largest weight that was held at one time.
  private(set) var mostHeld = 0

  /// - Parameter base: where the export's root is put.
  init(_ source: ByteSource, at base: TreePath, limits: TreeLimits = TreeLimits()) {
    self.source = source
    self.base = base
    self.limits = limits
  }

  /// The next writes; none at the end.
  mutating func next() throws(CommandFailure) -> [TreeChange] {
    while changes.isEmpty, !isOver { try step() }
    defer { changes = [] }
    return changes
  }

  // MARK: JSON

  private mutating func step() throws(CommandFailure) {
    guard let frame = frames.last else {
      try value(nil)
      if frames.isEmpty { try finish() }
      return
    }
    let end: UInt8 = frame.position == nil ? UInt8(ascii: "}") : UInt8(ascii: "]")
    guard let byte = try peek() else { throw failure("it ends within a value") }
    if byte == end {
      _ = try source.next()
      try close()
      if frames.isEmpty { try finish() }
      return
    }
    if !frame.isFirst {
      guard byte == UInt8(ascii: ",") else { throw failure("a comma is missing") }
      _ = try source.next()
    }
    frames[frames.count - 1].isFirst = false
    if let position = frame.position {
      frames[frames.count - 1].position = position + 1
      return try value(String(position))
    }
    guard try peek() == UInt8(ascii: "\"") else { throw failure("a name is missing") }
    let name = try text()
    guard try peek() == UInt8(ascii: ":") else { throw failure("a colon is missing") }
    _ = try source.next()
    try value(name)
  }

  private mutating func finish() throws(CommandFailure) {
    isOver = true
    if try peek() != nil { throw failure("something follows the value") }
  }

  /// Reads what stands under a name of the last frame, or the root.
  private mutating func value(_ name: String?) throws(CommandFailure) {
    let isMember = name == ".value" || name == ".priority"
    var key: TreeKey?
    if let name, !isMember {
      do {
        key = try TreeKey(name, under: path, limits: limits)
        guard base.keys.count + frames.count <= limits.depth else {
          throw TreeError(.tooDeep, at: path, limit: limits.depth)
        }
      } catch {
        throw failure("\(error)")
      }
    }
    guard let byte = try peek() else { throw failure("it ends before a value") }
    switch byte {
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      if isMember { throw failure("\(path): \(name ?? "") is not a leaf") }
      _ = try source.next()
      frames.append(Frame(key: key, position: byte == UInt8(ascii: "[") ? 0 : nil))
    default:
      let json = try scalar()
      let node = TreeScalar(json).map { TreeNode($0) } ?? .empty
      if !node.isEmpty, !isMember || name == ".value" { leaves += 1 }
      let bytes = json.string?.utf8.count ?? 0
      switch name {
      case ".value": frames[frames.count - 1].leaf = node
      case ".priority": frames[frames.count - 1].priority = node.scalar
      default: try add(node, key, weight: 1 + bytes / Self.bytesOfLeaf)
      }
    }
  }

  private func scalar() throws(CommandFailure) -> JSONValue {
    if try peek() == UInt8(ascii: "\"") { return .string(try text()) }
    var bytes: [UInt8] = []
    while let byte = try source.peek(), Self.isScalar(byte), bytes.count < 400 {
      bytes.append(byte)
      _ = try source.next()
    }
    do { return try JSONValue(parsing: bytes) } catch { throw failure("\(error)") }
  }

  private static func isScalar(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "E"),
      UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
      true
    default: false
    }
  }

  private func text() throws(CommandFailure) -> String {
    var (bytes, isEscaped): ([UInt8], Bool) = ([], false)
    while let byte = try source.next() {
      bytes.append(byte)
      // An escape takes up to six bytes for one.
      guard bytes.count <= 6 * limits.textBytes + 2 else {
        throw failure("\(path): a text is longer than the limit textBytes (\(limits.textBytes))")
      }
      if byte == UInt8(ascii: "\""), bytes.count > 1, !isEscaped { break }
      isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
    }
    do {
      guard let text = try JSONValue(parsing: bytes).string else { throw failure("a text is missing") }
      guard text.utf8.count <= limits.textBytes else {
        throw failure("\(path): a text is longer than the limit textBytes (\(limits.textBytes))")
      }
      return text
    } catch {
      throw (error as? CommandFailure) ?? failure("\(error)")
    }
  }

  /// The next byte that is not white space.
  private func peek() throws(CommandFailure) -> UInt8? {
    while let byte = try source.peek() {
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
      _ = try source.next()
    }
    return nil
  }

  private func failure(_ reason: String) -> CommandFailure {
    CommandFailure(.badData, "The export is not read past byte \(source.taken): \(reason).")
  }

  // MARK: Nodes

  /// The path of the last frame.
  private var path: TreePath { TreePath(base.keys + frames.compactMap(\.key)) }

  /// Takes a whole node: a child of the last frame, or the root.
  private mutating func add(_ node: TreeNode, _ key: TreeKey?, weight: Int) throws(CommandFailure) {
    guard let key, !frames.isEmpty else {
      if !node.isEmpty { changes.append(TreeChange(path: base, node: node)) }
      return
    }
    let last = frames.count - 1
    frames[last].held = frames[last].held.setting(key, to: node)
    frames[last].weight += weight
    mostHeld = max(mostHeld, frames.reduce(0) { $0 + $1.weight })
    if frames[last].weight > Self.heldWeight { divide() }
  }

  /// Writes the children of the last frame one by one.
  private mutating func divide() {
    let path = path
    frames[frames.count - 1].held.children.forEach { key, child in
      changes.append(TreeChange(path: path.child(key), node: child))
      return true
    }
    frames[frames.count - 1].held = .empty
    frames[frames.count - 1].weight = 0
    frames[frames.count - 1].isDivided = true
  }

  private mutating func close() throws(CommandFailure) {
    if frames.last?.isDivided == true {
      divide()
      let path = path
      let frame = frames.removeLast()
      if let priority = frame.priority {
        changes.append(TreeChange(path: path.child(.priority), node: TreeNode(priority)))
      }
      if !frames.isEmpty { frames[frames.count - 1].isDivided = true }
      return
    }
    let frame = frames.removeLast()
    try add((frame.leaf ?? frame.held).withPriority(frame.priority), frame.key, weight: max(1, frame.weight))
  }
}
