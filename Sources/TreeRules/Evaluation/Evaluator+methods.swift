import MartletJSONTree
internal import MartletPatterns

extension Evaluator {
  mutating func invoke(_ method: Method, _ receiver: Int, _ arguments: [Int], _ id: Int) throws -> RuleValue {
    let value = try value(of: receiver)
    switch value {
    case .snapshot(let snapshot): return try invoke(method, on: snapshot, arguments, id)
    case .string(let text): return try invoke(method, on: text, arguments, id)
    case .null, .bool, .int, .double, .claims, .node, .query, .list, .pattern:
      throw failure(.type, "\(method.rawValue) is called on \(value.kind), not on a string", at: receiver)
    }
  }

  // MARK: Snapshots

  private func tree(_ snapshot: RuleSnapshot) -> any RuleTree {
    snapshot.isNew ? context.newData ?? context.data : context.data
  }

  private mutating func invoke(
    _ method: Method, on snapshot: RuleSnapshot, _ arguments: [Int], _ id: Int
  ) throws -> RuleValue {
    switch method {
    case .parent:
      guard let parent = snapshot.path.parent else { throw failure(.noParent, "the root has no parent", at: id) }
      return .snapshot(RuleSnapshot(path: parent, isNew: snapshot.isNew))
    case .child:
      let path = try path(arguments[0], "the argument of child is")
      return .snapshot(RuleSnapshot(path: snapshot.path.appending(path), isNew: snapshot.isNew))
    case .hasChild: return .bool(try exists(arguments[0], below: snapshot, "the argument of hasChild is"))
    case .hasChildren:
      guard !arguments.isEmpty else { return .bool(try tree(snapshot).glimpse(at: snapshot.path) == .children) }
      return .bool(try hasChildren(arguments[0], snapshot))
    case .getPriority: return try tree(snapshot).priority(at: snapshot.path).map { RuleValue($0) } ?? .null
    case .val, .exists, .isNumber, .isString, .isBoolean:
      return Self.value(of: method, try tree(snapshot).glimpse(at: snapshot.path))
    case .contains, .beginsWith, .endsWith, .replace, .toLowerCase, .toUpperCase, .matches:
      throw failure(.type, "\(method.rawValue) is called on a snapshot, not on a string", at: id)
    }
  }

  private static func value(of method: Method, _ glimpse: TreeGlimpse) -> RuleValue {
    let value: RuleValue =
      switch glimpse {
      case .absent: .null
      case .leaf(let scalar): RuleValue(scalar)
      case .children: .node
      }
    switch method {
    case .exists: return .bool(glimpse != .absent)
    case .isNumber: return .bool(value.type == .number)
    case .isString: return .bool(value.type == .string)
    case .isBoolean: return .bool(value.type == .boolean)
    case .val, .child, .parent, .hasChild, .hasChildren, .getPriority, .contains, .beginsWith, .endsWith, .replace,
      .toLowerCase, .toUpperCase, .matches:
      return value
    }
  }

  /// A relative path. Keys that the tree does not allow are not refused: such a child does not exist.
  private mutating func path(_ argument: Int, _ what: String) throws -> TreePath {
    let text = try string(argument, what)
    try spend(on: text, at: argument)
    return Self.path(text)
  }

  private static func path(_ text: String) -> TreePath {
    TreePath(text.split(separator: "/", omittingEmptySubsequences: true).map { TreeKey(unchecked: String($0)) })
  }

  private mutating func exists(_ argument: Int, below snapshot: RuleSnapshot, _ what: String) throws -> Bool {
    let path = snapshot.path.appending(try path(argument, what))
    return try tree(snapshot).glimpse(at: path) != .absent
  }

  private mutating func hasChildren(_ argument: Int, _ snapshot: RuleSnapshot) throws -> Bool {
    guard case .list(let names) = try value(of: argument) else { return false }
    for name in names {
      try spend(1, at: argument)
      let path = snapshot.path.appending(Self.path(name))
      guard try tree(snapshot).glimpse(at: path) != .absent else { return false }
    }
    return true
  }

  // MARK: Strings

  private mutating func invoke(_ method: Method, on text: String, _ arguments: [Int], _ id: Int) throws -> RuleValue {
    try spend(on: text, at: id)
    switch method {
    case .contains:
      return .bool(ByteSearch.contains(text, try string(arguments[0], "the argument of contains is")))
    case .beginsWith:
      return .bool(text.utf8.starts(with: try string(arguments[0], "the argument of beginsWith is").utf8))
    case .endsWith:
      let end = try string(arguments[0], "the argument of endsWith is").utf8
      return .bool(end.count <= text.utf8.count && text.utf8.suffix(end.count).elementsEqual(end))
    case .replace:
      let old = try string(arguments[0], "the first argument of replace is")
      let new = try string(arguments[1], "the second argument of replace is")
      // The result can be as large as the product of the texts.
      try spend(on: new, times: old.isEmpty ? 1 : text.utf8.count / old.utf8.count + 1, at: id)
      return .string(ByteSearch.replacing(text, old, with: new))
    case .toLowerCase: return .string(text.lowercased())
    case .toUpperCase: return .string(text.uppercased())
    case .matches:
      guard case .pattern(let index) = expression.nodes[arguments[0]].part else {
        throw failure(.type, "the argument of matches is not a literal", at: id)
      }
      let pattern = expression.patterns[index]
      try spend(on: text, times: pattern.size, at: id)
      return .bool(pattern.matches(text))
    case .val, .child, .parent, .hasChild, .hasChildren, .exists, .getPriority, .isNumber, .isString, .isBoolean:
      throw failure(.type, "\(method.rawValue) is called on a string, not on a snapshot", at: id)
    }
  }
}

/// Searches in texts by their bytes.
enum ByteSearch {
  static func contains(_ text: String, _ part: String) -> Bool {
    part.isEmpty || !occurrences(of: Array(part.utf8), in: Array(text.utf8), most: 1).isEmpty
  }

  /// All occurrences, from the left, replaced; an empty text occurs nowhere.
  static func replacing(_ text: String, _ old: String, with new: String) -> String {
    guard !old.isEmpty else { return text }
    let (bytes, part) = (Array(text.utf8), Array(old.utf8))
    var (result, start): ([UInt8], Int) = ([], 0)
    for index in occurrences(of: part, in: bytes, most: .max) {
      result += bytes[start..<index]
      result += Array(new.utf8)
      start = index + part.count
    }
    return String(decoding: result + bytes[start...], as: UTF8.self)
  }

  /// Where `part` begins in `text`, without overlaps; in linear time, by the lengths of its repeated beginnings.
  private static func occurrences(of part: [UInt8], in text: [UInt8], most: Int) -> [Int] {
    var borders = [0]
    for index in part.indices.dropFirst() {
      var length = borders[index - 1]
      while length > 0, part[length] != part[index] { length = borders[length - 1] }
      borders.append(part[length] == part[index] ? length + 1 : 0)
    }
    var (found, length): ([Int], Int) = ([], 0)
    for (index, byte) in text.enumerated() where found.count < most {
      while length > 0, part[length] != byte { length = borders[length - 1] }
      if part[length] == byte { length += 1 }
      if length == part.count {
        found.append(index + 1 - length)
        length = 0
      }
    }
    return found
  }
}
