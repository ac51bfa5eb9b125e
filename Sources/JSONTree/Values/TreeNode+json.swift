package import MartletJSON

extension TreeNode {
  /// The value as JSON objects, without priorities. Nothing becomes an array unless it is asked for.
  ///
  /// - Parameter asArrays: whether nodes become arrays as the Realtime Database does on reading: all keys are integers
  ///   from 0 and the greatest is below twice their number. Missing elements are null.
  package func json(asArrays: Bool = false) -> JSONValue {
    switch content {
    case .empty: return .null
    case .leaf(let scalar): return scalar.json
    case .children(let children):
      if asArrays, let array = Self.array(children) { return .array(array.map { $0.json(asArrays: true) }) }
      return .object(Self.members(children) { $0.json(asArrays: asArrays) })
    }
  }

  /// The value with priorities: `.priority` beside children, `.value` and `.priority` in place of a leaf.
  package func exportedJSON() -> JSONValue {
    switch content {
    case .empty: return .null
    case .leaf(let scalar):
      guard let priority else { return scalar.json }
      return [".value": scalar.json, ".priority": priority.json]
    case .children(let children):
      var object = Self.members(children) { $0.exportedJSON() }
      if let priority { object[".priority"] = priority.json }
      return .object(object)
    }
  }

  private static func members(_ children: Children, _ json: (TreeNode) -> JSONValue) -> JSONObject {
    var members: [JSONObject.Element] = []
    members.reserveCapacity(children.count)
    children.forEach { key, child in
      members.append((key.text, json(child)))
      return true
    }
    return JSONObject(distinct: members)
  }

  /// The children as a list in key order, for readers that ask for one; nil for a leaf, none for an empty node.
  package func childrenAsArray() -> [TreeNode]? {
    isLeaf ? nil : children.entries.map(\.value)
  }

  /// The elements, when the Realtime Database would read these children as an array.
  private static func array(_ children: Children) -> [TreeNode]? {
    guard let last = children.last, let first = children.first, let least = first.key.number, least >= 0,
      let greatest = last.key.number, Int(greatest) < 2 * children.count
    else { return nil }
    var elements = [TreeNode](repeating: .empty, count: Int(greatest) + 1)
    var isArray = true
    children.forEach { key, child in
      // "07" is a number by order and no index.
      guard let number = key.number, String(number) == key.text else {
        isArray = false
        return false
      }
      elements[Int(number)] = child
      return true
    }
    return isArray ? elements : nil
  }
}

/// Reads JSON as a tree's value, within limits, and puts results in place of server values.
///
/// Arrays become children named 0, 1 and so on; null elements, null members and `{}` are absent.
package struct TreeReader: Sendable {
  package var limits: TreeLimits
  /// What `.sv` stands for; nil refuses it.
  package var serverValues: ServerValues?
  private var bytes = 0

  package init(limits: TreeLimits = TreeLimits(), serverValues: ServerValues? = nil) {
    self.limits = limits
    self.serverValues = serverValues
  }

  /// Reads one value.
  ///
  /// - Parameters:
  ///   - path: where the value stands; its depth counts.
  ///   - existing: the node there now, to which increments are applied.
  package func read(
    _ json: JSONValue, at path: TreePath = .root, existing: TreeNode = .empty
  ) throws(TreeError) -> TreeNode {
    var reader = self
    return try reader.node(json, at: path, existing: existing)
  }

  /// Reads a merge: members are paths of one or more segments, none above another.
  package func readMerge(
    _ object: JSONObject, at path: TreePath, existing: TreeNode = .empty
  ) throws(TreeError) -> [TreeWrite] {
    guard object.count <= limits.mergePaths else { throw TreeError(.tooManyPaths, at: path, limit: limits.mergePaths) }
    var reader = self
    var writes: [TreeWrite] = []
    for (name, json) in object {
      let relative: TreePath
      do { relative = try TreePath(wire: name, limits: limits) } catch {
        throw TreeError(error.code, at: path.appending(error.path), limit: error.limit, text: error.text)
      }
      guard !relative.isRoot else { throw TreeError(.emptyKey, at: path) }
      let node =
        relative.key?.isPriority == true
        ? try reader.priority(json, at: path.appending(relative)).map { TreeNode($0) } ?? .empty
        : try reader.node(json, at: path.appending(relative), existing: existing.node(at: relative))
      writes.append(TreeWrite(path: relative, node: node))
    }
    try Self.checkOverlap(writes.map(\.path), under: path)
    return writes
  }

  private static func checkOverlap(_ paths: [TreePath], under path: TreePath) throws(TreeError) {
    let sorted = paths.sorted()
    for (left, right) in zip(sorted, sorted.dropFirst()) where left.contains(right) {
      throw TreeError(.overlappingPaths, at: path.appending(right))
    }
  }

  private mutating func count(_ more: Int, at path: TreePath) throws(TreeError) {
    bytes += more
    guard bytes <= limits.writeBytes else { throw TreeError(.writeTooLarge, at: path, limit: limits.writeBytes) }
  }

  private mutating func node(
    _ json: JSONValue, at path: TreePath, existing: TreeNode
  ) throws(TreeError) -> TreeNode {
    switch json {
    case .null: return .empty
    case .bool, .int, .uint, .double, .string: return TreeNode(try scalar(json, at: path))
    case .array(let elements):
      let members = elements.enumerated().map { (key: String($0.offset), value: $0.element) }
      return try children(members, priority: nil, at: path, existing: existing)
    case .object(let object):
      let priority = try object[".priority"].map { json throws(TreeError) in try self.priority(json, at: path) } ?? nil
      if let value = object[".sv"] {
        guard object.count == (object[".priority"] == nil ? 1 : 2) else {
          throw TreeError(.invalidServerValue, at: path, text: value.description)
        }
        return try serverValue(value, priority, at: path, existing: existing)
      }
      if let value = object[".value"] {
        guard !object.contains(where: { !$0.key.utf8.starts(with: [UInt8(ascii: ".")]) }) else {
          throw TreeError(.invalidLeaf, at: path)
        }
        if case .object(let inner) = value, let resolved = inner[".sv"] {
          return try serverValue(resolved, priority, at: path, existing: existing)
        }
        return value.isNull ? .empty : TreeNode(try scalar(value, at: path), priority: priority)
      }
      return try children(object.filter { $0.key != ".priority" }, priority: priority, at: path, existing: existing)
    }
  }

  private mutating func children(
    _ members: [JSONObject.Element], priority: TreeScalar?, at path: TreePath, existing: TreeNode
  ) throws(TreeError) -> TreeNode {
    guard members.count <= limits.children else { throw TreeError(.tooManyChildren, at: path, limit: limits.children) }
    var entries: [(key: TreeKey, value: TreeNode)] = []
    entries.reserveCapacity(members.count)
    for (name, json) in members {
      let key = try TreeKey(name, under: path, limits: limits)
      guard path.keys.count < limits.depth else { throw TreeError(.tooDeep, at: path, limit: limits.depth) }
      try count(name.utf8.count, at: path)
      let child = try node(json, at: path.child(key), existing: existing.child(key))
      if !child.isEmpty { entries.append((key, child)) }
    }
    entries.sort { $0.key < $1.key }
    return TreeNode(children: SortedMap(sorted: entries), priority: priority)
  }

  private mutating func scalar(_ json: JSONValue, at path: TreePath) throws(TreeError) -> TreeScalar {
    guard let scalar = TreeScalar(json) else { throw TreeError(.invalidLeaf, at: path) }
    guard case .string(let text) = scalar else {
      try count(8, at: path)
      return scalar
    }
    let size = text.utf8.count
    guard size <= limits.textBytes else { throw TreeError(.textTooLong, at: path, limit: limits.textBytes) }
    try count(size, at: path)
    return scalar
  }

  private mutating func priority(_ json: JSONValue, at path: TreePath) throws(TreeError) -> TreeScalar? {
    switch json {
    case .null: return nil
    case .int, .uint, .double, .string: return try scalar(json, at: path)
    case .object(let object):
      guard let value = object[".sv"] else { throw TreeError(.invalidPriority, at: path) }
      return try serverValue(value, nil, at: path, existing: .empty).scalar
    case .bool, .array: throw TreeError(.invalidPriority, at: path)
    }
  }

  private mutating func serverValue(
    _ json: JSONValue, _ priority: TreeScalar?, at path: TreePath, existing: TreeNode
  ) throws(TreeError) -> TreeNode {
    guard let serverValues, let scalar = serverValues.resolve(json, existing: existing.scalar) else {
      throw TreeError(.invalidServerValue, at: path, text: json.description)
    }
    try count(8, at: path)
    return TreeNode(scalar, priority: priority)
  }
}
