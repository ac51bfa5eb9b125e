import MartletVocabulary
import Testing

@testable import MartletPatterns
@testable import MartletTreeRules

/// Regular expressions: syntax by table, matching against a matcher that tries every way.
@Suite struct PatternTests {
  static let cases: [(String, String, Bool)] = [
    ("abc", "xabcx", true), ("^abc$", "xabc", false), ("^abc$", "abc", true), ("a|b|", "", true),
    ("^(a|b)+$", "abba", true),
    ("^[a-c-]+$", "a-b", true), ("^[^a-c]+$", "xyz", true), ("^[^a-c]+$", "xbz", false), ("^\\d{2,3}$", "1234", false),
    ("^\\d{2,3}$", "123", true), ("^\\d{2,}$", "1", false), ("^a{0}$", "", true),
    ("^\\w+@\\w+\\.[a-z]{2,}$", "a@b.de", true),
    ("^\\S+$", "a b", false), ("^.$", "\n", false), ("^.$", "😀", true), ("\\bfoo\\b", "a foo b", true),
    ("\\bfoo\\b", "afoo", false), ("fo\\B", "foo", true), ("^(?:a|b)c$", "bc", true), ("^a+?b*?$", "aab", true),
    ("a{,2}", "a{,2}", true), ("^\\u00e9$", "é", true), ("^[\\]\\\\]+$", "]\\", true), ("^[]$", "", false),
    ("^[^]$", "\n", true),
    ("^(a*)*$", "aaab", false), ("(^a|b$)", "xb", true), ("^\\/\\.$", "/.", true), ("[\\d-x]", "-", true),
    ("^[\\W\\d]+$", "1-2", true), ("(){1000000}x", "x", true), ("$^", "", true), ("a$b", "ab", false),
  ]

  @Test(arguments: cases.indices)
  func `a regular expression matches as in JavaScript`(index: Int) throws {
    let (pattern, text, expected) = Self.cases[index]
    #expect(
      try Pattern(pattern, ignoresCase: false, limits: RuleLimits()).matches(text) == expected, "\(pattern) \(text)")
  }

  static let ignoringCase: [(String, String, Bool)] = [
    ("^abc$", "aBC", true), ("^[a-z]+$", "ABC", true), ("^[^a-z]$", "A", false), ("^É$", "é", true),
    ("^[é]$", "É", true),
    ("^\\w$", "K", true), ("^[^k]$", "K", false), ("^[A-Z]$", "q", true),
  ]

  @Test(arguments: ignoringCase.indices)
  func `the flag i makes both cases equal`(index: Int) throws {
    let (pattern, text, expected) = Self.ignoringCase[index]
    #expect(
      try Pattern(pattern, ignoresCase: true, limits: RuleLimits()).matches(text) == expected, "\(pattern) \(text)")
  }

  static let refused: [(String, Int)] = [
    ("a)", 1), ("(a", 0), ("*a", 0), ("a**", 2), ("^*", 0), ("[a", 0), ("a{3,1}", 1), ("\\q", 0), ("a\\", 1),
    ("(?<n>a)", 0),
    ("\\2", 0), ("[b-a]", 1), ("\\x1", 0),
  ]

  @Test(arguments: refused.indices)
  func `a regular expression that cannot be compiled names the character`(index: Int) throws {
    let (pattern, position) = Self.refused[index]
    do {
      _ = try Pattern(pattern, ignoresCase: false, limits: RuleLimits())
      Issue.record("\(pattern) was accepted")
    } catch { #expect(error.index == position, "\(pattern): \(error.message)") }
  }

  @Test func `random expressions match as a matcher that tries every way does`() throws {
    var chance = SeededRandom(seed: 20)
    for _ in 0..<3_000 {
      let tree = Self.tree(3, &chance)
      let text = String(
        (0..<Int.random(in: 0...7, using: &chance)).map { _ in "abc".randomElement(using: &chance) ?? "a" })
      let pattern = try Pattern(Self.source(tree), ignoresCase: false, limits: RuleLimits())
      let scalars = Array(text.unicodeScalars)
      let expected =
        scalars.indices.contains { !Self.ends(tree, scalars, $0).isEmpty }
        || !Self.ends(tree, scalars, scalars.count).isEmpty
      #expect(pattern.matches(text) == expected, "/\(Self.source(tree))/ on \(text)")
    }
  }

  @Test func `matching is linear where backtracking would be exponential`() throws {
    let pattern = try Pattern("^(a+)+$", ignoresCase: false, limits: RuleLimits())
    #expect(!pattern.matches(String(repeating: "a", count: 20_000) + "b"))
  }

  // MARK: The naive matcher

  private static func tree(_ depth: Int, _ chance: inout SeededRandom) -> PatternTree {
    let letter: UInt32 = 97 + UInt32.random(in: 0...2, using: &chance)
    guard depth > 0 else { return .scalar(letter) }
    switch Int.random(in: 0...7, using: &chance) {
    case 0, 1: return .sequence((0..<Int.random(in: 0...3, using: &chance)).map { _ in tree(depth - 1, &chance) })
    case 2: return .alternatives((0..<Int.random(in: 1...3, using: &chance)).map { _ in tree(depth - 1, &chance) })
    case 3:
      let least = Int.random(in: 0...2, using: &chance)
      let most = Bool.random(using: &chance) ? least + Int.random(in: 0...2, using: &chance) : nil
      return .repeated(tree(depth - 1, &chance), least: least, most: most)
    case 4: return .start
    case 5: return .end
    case 6: return .set(ScalarSet(ranges: [letter...99], isNegated: Bool.random(using: &chance)))
    default: return .scalar(letter)
    }
  }

  private static func source(_ tree: PatternTree) -> String {
    switch tree {
    case .scalar(let value): return Unicode.Scalar(value).map { String(Character($0)) } ?? ""
    case .set(let set):
      let range = set.ranges[0]
      return "[\(set.isNegated ? "^" : "")\(source(.scalar(range.lowerBound)))-\(source(.scalar(range.upperBound)))]"
    case .sequence(let parts): return "(?:" + parts.map(source).joined() + ")"
    case .alternatives(let branches): return "(" + branches.map(source).joined(separator: "|") + ")"
    case .repeated(let part, let least, let most):
      return "(\(source(part))){\(least),\(most.map(String.init) ?? "")}"
    case .start: return "^"
    case .end: return "$"
    case .boundary(let isExpected): return isExpected ? "\\b" : "\\B"
    }
  }

  /// Where a match that begins at `start` can end.
  private static func ends(_ tree: PatternTree, _ text: [Unicode.Scalar], _ start: Int) -> Set<Int> {
    switch tree {
    case .scalar(let value): return start < text.count && text[start].value == value ? [start + 1] : []
    case .set(let set): return start < text.count && set.contains(anyOf: [text[start].value]) ? [start + 1] : []
    case .start: return start == 0 ? [start] : []
    case .end: return start == text.count ? [start] : []
    case .boundary: return []
    case .sequence(let parts):
      return parts.reduce([start]) { found, part in Set(found.flatMap { ends(part, text, $0) }) }
    case .alternatives(let branches): return Set(branches.flatMap { ends($0, text, start) })
    case .repeated(let part, let least, let most):
      var reached: Set<Int> = [start]
      for _ in 0..<least { reached = Set(reached.flatMap { ends(part, text, $0) }) }
      var all = reached
      // More rounds than characters reach nothing new.
      for _ in 0..<min(most.map { $0 - least } ?? .max, text.count + 1) {
        reached = Set(reached.flatMap { ends(part, text, $0) })
        all.formUnion(reached)
      }
      return all
    }
  }
}
