/// A regular expression, compiled to instructions that are run for all alternatives at once: a match costs at most the
/// number of instructions for each character of the text, whatever the expression.
///
/// The syntax is JavaScript's without what needs backtracking: no back references, no looking ahead or behind.
package struct Pattern: Sendable {
  enum Instruction: Sendable {
    case scalar(UInt32)
    case set(ScalarSet)
    case split(Int, Int)
    case jump(Int)
    case start
    case end
    case boundary(Bool)
    case match
  }

  private var program: [Instruction] = []
  private let ignoresCase: Bool
  /// The literal.
  package let source: String

  /// Instructions: what a match costs at most for each character of the text.
  package var size: Int { program.count }

  /// - Parameters:
  ///   - depth: Levels of groups that it may have. Reading uses some stack frames for each.
  ///   - instructions: Instructions that it may have; `{1,1000}` repeats what stands before it.
  /// - Throws: `PatternProblem` with the index of the scalar concerned.
  package init(
    _ text: String, ignoresCase: Bool = false, depth: Int = 100, instructions: Int = 2_000
  ) throws(PatternProblem) {
    self.ignoresCase = ignoresCase
    source = "/\(text)/" + (ignoresCase ? "i" : "")
    var parser = PatternParser(Array(text.unicodeScalars), greatestDepth: depth)
    var compiler = PatternCompiler(ignoresCase: ignoresCase, limit: instructions)
    try compiler.emit(try parser.parse())
    try compiler.append(.match)
    program = compiler.program
  }

  /// Whether the expression matches anywhere in `text`.
  package func matches(_ text: String) -> Bool {
    var (threads, following) = (ThreadList(program.count), ThreadList(program.count))
    var previous: Unicode.Scalar?
    var iterator = text.unicodeScalars.makeIterator()
    var current = iterator.next()
    while true {
      // A match may begin anywhere.
      add(0, to: &threads, previous, current)
      let forms = current.map { ignoresCase ? ScalarSet.forms($0) : [$0.value] } ?? []
      following.removeAll()
      for index in 0..<threads.count {
        switch program[threads[index]] {
        case .match: return true
        case .scalar(let expected): if forms.first == expected { following.insert(threads[index] + 1) }
        case .set(let set): if !forms.isEmpty, set.contains(anyOf: forms) { following.insert(threads[index] + 1) }
        case .split, .jump, .start, .end, .boundary: break
        }
      }
      guard let consumed = current else { return false }
      previous = consumed
      current = iterator.next()
      threads.removeAll()
      for index in 0..<following.count { add(following[index], to: &threads, previous, current) }
    }
  }

  /// Adds an instruction and those that follow it without consuming anything. The instructions that were added wait in
  /// the list itself, so that the depth of the expression costs no stack.
  private func add(
    _ first: Int, to threads: inout ThreadList, _ previous: Unicode.Scalar?, _ next: Unicode.Scalar?
  ) {
    var position = threads.count
    threads.insert(first)
    while position < threads.count {
      let index = threads[position]
      position += 1
      switch program[index] {
      case .scalar, .set, .match: break
      case .jump(let target): threads.insert(target)
      case .split(let one, let two):
        threads.insert(one)
        threads.insert(two)
      case .start: if previous == nil { threads.insert(index + 1) }
      case .end: if next == nil { threads.insert(index + 1) }
      case .boundary(let isExpected):
        let isBoundary = Self.isWord(previous) != Self.isWord(next)
        if isBoundary == isExpected { threads.insert(index + 1) }
      }
    }
  }

  private static func isWord(_ scalar: Unicode.Scalar?) -> Bool {
    scalar.map { ScalarSet.word.contains($0.value) } ?? false
  }
}

/// Why a regular expression was refused.
package struct PatternProblem: Error {
  package let message: String
  /// The scalar concerned, from the first one after the slash.
  package let index: Int
  /// Whether a limit was exceeded, which the message names.
  package var isLimit = false
}

/// Instructions in the order in which they were added, each once.
private struct ThreadList {
  private var dense: [Int] = []
  private var sparse: [Int]

  init(_ size: Int) {
    sparse = Array(repeating: 0, count: size)
    dense.reserveCapacity(size)
  }

  var count: Int { dense.count }
  subscript(index: Int) -> Int { dense[index] }

  mutating func insert(_ value: Int) {
    let index = sparse[value]
    if index < dense.count, dense[index] == value { return }
    sparse[value] = dense.count
    dense.append(value)
  }

  mutating func removeAll() { dense.removeAll(keepingCapacity: true) }
}

/// Scalars by ranges.
struct ScalarSet: Sendable {
  var ranges: [ClosedRange<UInt32>] = []
  var isNegated = false

  static let digit = ScalarSet(ranges: [48...57])
  static let word = ScalarSet(ranges: [48...57, 65...90, 95...95, 97...122])
  static let space = ScalarSet(ranges: [
    9...13, 32...32, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029, 0x202F...0x202F, 0x205F...0x205F,
    0x3000...0x3000, 0xFEFF...0xFEFF,
  ])
  /// Everything but the ends of lines.
  static let dot = ScalarSet(ranges: [10...10, 13...13, 0x2028...0x2029], isNegated: true)

  func contains(_ value: UInt32) -> Bool { ranges.contains { $0.contains(value) } != isNegated }

  /// The same set with the scalars it does not contain.
  var inverted: ScalarSet { ScalarSet(ranges: ranges, isNegated: !isNegated) }

  /// The ranges without negation.
  var positiveRanges: [ClosedRange<UInt32>] {
    guard isNegated else { return ranges }
    var (result, next): ([ClosedRange<UInt32>], UInt32) = ([], 0)
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if range.lowerBound > next { result.append(next...range.lowerBound - 1) }
      next = max(next, range.upperBound + 1)
    }
    if next <= 0x10FFFF { result.append(next...0x10FFFF) }
    return result
  }

  /// The scalar in lower case, where that is one scalar.
  static func folded(_ value: UInt32) -> UInt32 {
    if value < 0x80 { return (65...90).contains(value) ? value + 32 : value }
    guard let scalar = Unicode.Scalar(value) else { return value }
    let lower = scalar.properties.lowercaseMapping.unicodeScalars
    return lower.count == 1 ? lower[lower.startIndex].value : value
  }

  /// A scalar in lower case, as it is and in upper case, where these are single scalars.
  static func forms(_ scalar: Unicode.Scalar) -> [UInt32] {
    let upper = scalar.properties.uppercaseMapping.unicodeScalars
    return [folded(scalar.value), scalar.value] + (upper.count == 1 ? [upper[upper.startIndex].value] : [])
  }

  /// Whether the set contains a scalar of these forms; a negated set does when it excludes none of them.
  func contains(anyOf forms: [UInt32]) -> Bool {
    forms.contains { form in ranges.contains { $0.contains(form) } } != isNegated
  }
}
