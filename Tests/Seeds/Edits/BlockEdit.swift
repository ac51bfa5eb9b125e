import MartletSockets

/// One change to one line of a block, beside the renames. The line is named by its number in the block and by a digest,
/// so that it is not repeated here; what is replaced is named by as few characters as tell it apart in its line.
struct BlockEdit: Sendable {
  /// What an edit may do.
  enum Kind: String, Sendable, CaseIterable {
    /// An optional is declared or unwrapped.
    case unwrap
    /// A stored property gets its first value.
    case initialiser
    /// An empty body, or a binding nobody reads.
    case empty
    /// A type or a deinitialiser belongs to the main actor.
    case mainActor
    /// Dots or a comment stand where the reader's own code goes.
    case placeholder
    /// The address of the server that the run has started.
    case address
    /// A word that this system's compiler does not know.
    case platform
    /// Between two lines of a straight-line sample others act, and the run waits for them.
    case moment
  }

  let kind: Kind
  let block: BlockName
  /// From 1.
  let line: Int
  let digest: String
  let replacing: String
  let with: String
  let reason: String

  init(
    _ kind: Kind, _ block: String, line: Int, _ digest: String, _ replacing: String, with: String,
    because reason: String
  ) {
    self.kind = kind
    self.block = BlockName(block) ?? BlockName(block, 0)
    self.line = line
    self.digest = digest
    self.replacing = replacing
    self.with = with
    self.reason = reason
  }

  var description: String { "the edit of \(block), line \(line) (\(reason))" }

  /// The first eight hexadecimal digits of the SHA-256 of a line without the spaces around it.
  static func digest(of line: String) -> String {
    let text = line.drop { $0 == " " }
    let end = text.lastIndex { $0 != " " }.map(text.index(after:)) ?? text.startIndex
    return Digest.sha256(Array(text[..<end].utf8)).prefix(4).map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
  }
}
