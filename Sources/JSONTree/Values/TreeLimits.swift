/// What a tree accepts. Exceeding one of these is a `TreeError` that names the path and the limit.
package struct TreeLimits: Hashable, Sendable {
  /// Levels below the root. The Realtime Database and Webcom allow 32.
  package var depth = 32
  /// Bytes of one key. 768 is the Realtime Database's limit, so that its clients see no difference.
  package var keyBytes = 768
  /// Bytes of one text. The Realtime Database allows 10 MiB.
  package var textBytes = 10 * 1_048_576
  /// Bytes of one write, counted as keys, texts and eight bytes for each other value. The Realtime Database's clients
  /// may send 16 MiB.
  package var writeBytes = 16 * 1_048_576
  /// Children of one node in one write. A million fits the memory of a small server; Webcom stops at 50,000.
  package var children = 1_000_000
  /// Paths of one merge: each is checked against rules and against the others.
  package var mergePaths = 100_000

  package init() {}
}

/// Why a path, a value or a window was refused, and where.
package struct TreeError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The rule that was broken.
  package enum Code: String, Sendable {
    case emptyKey, keyTooLong, forbiddenCharacter, tooDeep
    case textTooLong, writeTooLarge, tooManyChildren, tooManyPaths
    /// A priority that is not null, a number or a text.
    case invalidPriority
    /// A `.value` with children beside it, or one that is not a leaf.
    case invalidLeaf
    /// A `.sv` that is neither the timestamp nor an increment, or one where no write is made.
    case invalidServerValue
    /// One path of a merge stands above another.
    case overlappingPaths
    /// A bound or a limit that cannot be.
    case invalidWindow
    /// The node shows something that is not written as a part of the tree.
    case readOnly
    /// The write changes more leaves than its request allows.
    case tooManyLeaves
  }

  package let code: Code
  /// The node concerned, or the node that would have got the refused child.
  package let path: TreePath
  /// The value of the setting that was exceeded.
  package let limit: Int?
  /// The key or the value that was refused.
  package let text: String?

  package init(_ code: Code, at path: TreePath, limit: Int? = nil, text: String? = nil) {
    self.code = code
    self.path = path
    self.limit = limit
    self.text = text
  }

  package var description: String {
    let what =
      switch code {
      case .emptyKey: "a key is empty"
      case .keyTooLong: "a key is longer than the limit keyBytes"
      case .forbiddenCharacter: "a key contains a control character or one of . $ # [ ] /"
      case .tooDeep: "the tree is deeper than the limit depth"
      case .textTooLong: "a text is longer than the limit textBytes"
      case .writeTooLarge: "the write is larger than the limit writeBytes"
      case .tooManyChildren: "a node has more children than the limit children"
      case .tooManyPaths: "the merge has more paths than the limit mergePaths"
      case .invalidPriority: "a priority is null, a number or a text"
      case .invalidLeaf: "a .value is null, a boolean, a number or a text, and has no children beside it"
      case .invalidServerValue:
        "a .sv is \"timestamp\" or {\"increment\": number}, with nothing but a .priority beside it, in a write"
      case .overlappingPaths: "one path of the merge stands above another"
      case .invalidWindow: "the window's bounds or limit are invalid"
      case .tooManyLeaves: "the write is estimated to take longer than its writeSizeLimit; leaves that it may change"
      case .readOnly: "the records of models can be read here and not written; write them with GraphQL"
      }
    return "\(path): \(what)" + (limit.map { " (\($0))" } ?? "") + (text.map { ": \($0)" } ?? "")
  }
}
