/// A text and where each of its scalars stands in the file; escapes make the two differ.
struct SourceText: Sendable {
  private(set) var scalars: [Unicode.Scalar] = []
  /// One offset for each scalar.
  private var offsets: [Int] = []
  /// The offset after the last scalar.
  var end: Int

  /// An empty text at `offset`.
  init(at offset: Int) {
    end = offset
  }

  /// A text that is a file of its own.
  init(_ text: String) {
    scalars = Array(text.unicodeScalars)
    offsets = Array(scalars.indices)
    end = scalars.count
  }

  mutating func append(_ scalar: Unicode.Scalar, at offset: Int) {
    scalars.append(scalar)
    offsets.append(offset)
  }

  func offset(of index: Int) -> Int { index < offsets.count ? offsets[index] : end }

  var string: String { Self.string(scalars[...]) }
  func string(_ range: Range<Int>) -> String { Self.string(scalars[range]) }

  static func string(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
    var text = ""
    text.unicodeScalars.append(contentsOf: scalars)
    return text
  }
}
