import MartletVocabulary
import Testing

@testable import MartletJSONTree

@Suite struct TreeKeyTests {
  @Test func `keys that read as 32-bit integers stand first by value, the others by UTF-16 code units`() {
    let ordered = [
      "-2147483648", "-7", "-07", "0", "-0", "00", "7", "07", "10", "2147483647", "-", "-2147483649", "1e3",
      "2147483648", "A", "a", "a b", "aa", "é", "\u{D7FF}", "\u{1F600}", "\u{E000}", "\u{FFFD}",
    ]
    let keys = ordered.map { TreeKey(unchecked: $0) }
    #expect(keys.shuffledBySeed(3).sorted().map(\.text) == ordered)
    for (index, key) in keys.enumerated() {
      for (other, second) in keys.enumerated() { #expect((key < second) == (index < other)) }
    }
  }

  @Test func `a number of more than eleven characters is a text`() {
    #expect(TreeKey(unchecked: "00000000007").number == 7)
    #expect(TreeKey(unchecked: "000000000007").number == nil)
    #expect(TreeKey(unchecked: "-").number == nil)
    #expect(TreeKey(unchecked: "+1").number == nil)
  }

  @Test func `composed and decomposed forms are two keys`() {
    #expect(TreeKey(unchecked: "\u{E9}") != TreeKey(unchecked: "e\u{301}"))
    #expect(Set([TreeKey(unchecked: "\u{E9}"), TreeKey(unchecked: "e\u{301}")]).count == 2)
  }

  @Test(arguments: ["a.b", "a$", "#", "[", "]", "a/b", "\u{0}", "a\u{1F}", "\u{7F}"])
  func `a forbidden character in a key is refused by name`(text: String) throws {
    let parent = try TreePath("/x")
    #expect(throws: TreeError(.forbiddenCharacter, at: parent, text: text)) { try TreeKey(text, under: parent) }
  }

  @Test func `a key has 1 to 768 bytes`() throws {
    let none = ""
    #expect(throws: TreeError(.emptyKey, at: .root)) { try TreeKey(none) }
    #expect(try TreeKey(String(repeating: "é", count: 384)).text.utf8.count == 768)
    #expect(throws: TreeError(.keyTooLong, at: .root, limit: 768)) { try TreeKey(String(repeating: "é", count: 385)) }
  }

  @Test(arguments: [
    ("geek", "/foo/bar/geek"), ("/geek", "/foo/bar/geek"), ("geek/", "/foo/bar/geek"),
    ("../geek//noob/.", "/foo/geek/noob"), ("../geek/../..//../..", "/"),
  ])
  func `a path is read relative to a node, with dots and empty segments`(text: String, expected: String) throws {
    #expect(try TreePath(text, from: TreePath("/foo/bar")).description == expected)
  }

  @Test func `a path of more than 32 keys is refused`() throws {
    let deep = String(repeating: "a/", count: 32)
    let tooDeep = TreePath(Array(repeating: "a", count: 33))
    #expect(try TreePath(deep).keys.count == 32)
    #expect(throws: TreeError(.tooDeep, at: tooDeep, limit: 32)) { try TreePath(deep + "a") }
    #expect(throws: TreeError.self) { try TreePath(wire: "/a/../b") }
    #expect(try TreePath(wire: "/a/.priority").key?.isPriority == true)
  }
}

@Suite struct PushKeyTests {
  @Test func `a push key has the published layout`() {
    var generator = PushKeyGenerator()
    var chance = FixedChance(values: (0..<12).map { UInt64($0) << 58 })
    let key = generator.next(milliseconds: 1_500_000_000_000, chance: &chance)
    #expect(key.text == "-KoyxtV-" + "-0123456789A")
    #expect(PushKeyGenerator.milliseconds(of: key) == 1_500_000_000_000)
    let next = generator.next(milliseconds: 1_500_000_000_000, chance: &chance)
    #expect(next.text == key.text.dropLast() + "B")
  }

  @Test func `the random part carries when a digit is at its end`() {
    var generator = PushKeyGenerator()
    var chance = FixedChance(values: Array(repeating: 0, count: 10) + [63 << 58, 63 << 58])
    _ = generator.next(milliseconds: 5, chance: &chance)
    #expect(generator.next(milliseconds: 5, chance: &chance).text == "-------4" + "---------0--")
  }

  @Test func `keys of one generator sort by creation, also when the clock is set back`() {
    var generator = PushKeyGenerator()
    var chance = SeededRandom(seed: 1)
    var keys: [TreeKey] = []
    for step in 0..<2_000 {
      let time = Int64(1_700_000_000_000 + step / 3 - (step % 50 == 0 ? 40 : 0))
      keys.append(generator.next(milliseconds: time, chance: &chance))
    }
    #expect(keys == keys.sorted())
    #expect(Set(keys).count == keys.count)
  }

  @Test func `the time is not read from other keys`() {
    #expect(PushKeyGenerator.milliseconds(of: "short") == nil)
    #expect(PushKeyGenerator.milliseconds(of: "--------------------!") == nil)
    #expect(PushKeyGenerator.milliseconds(of: "-------------------!") == nil)
  }
}

@Suite struct PathKeyCodingTests {
  @Test func `encoded paths sort as the tree does and decode to what they were`() throws {
    var chance = SeededRandom(seed: 9)
    let texts = [
      "a", "ab", "a b", "b", "0", "-0", "00", "7", "07", "-7", "10", "2147483647", "2147483648", "é", "\u{1F600}",
      "\u{E000}", "\u{FFFD}", "~",
    ]
    let paths = (0..<400).map { _ in
      TreePath((0..<Int(chance.next() % 4)).map { _ in TreeKey(unchecked: texts[Int(chance.next() % 18)]) })
    }
    for path in paths { #expect(PathKeyCoding.decode(PathKeyCoding.encode(path)) == path) }
    let byTree = paths.sorted()
    let byBytes = paths.sorted { PathKeyCoding.encode($0).lexicographicallyPrecedes(PathKeyCoding.encode($1)) }
    #expect(byTree == byBytes)
  }

  @Test func `the range of a subtree holds exactly the nodes at and below it`() throws {
    let paths = try ["/", "/a", "/a/b", "/a/b/c", "/a/c", "/ab", "/b", "/1", "/1/a", "/10"].map { try TreePath($0) }
    for root in paths {
      let (first, end) = PathKeyCoding.subtree(of: root)
      for path in paths {
        let bytes = PathKeyCoding.encode(path)
        let isInside = !bytes.lexicographicallyPrecedes(first) && bytes.lexicographicallyPrecedes(end)
        #expect(isInside == root.contains(path), "\(path) in \(root)")
      }
    }
  }

  @Test(arguments: [
    [0x10], [0x20], [0x20, 0x00], [0x30, 0x61, 0x00], [0x20, 0x37, 0x00], [0x10, 0x80, 0, 0, 7, 1, 0],
  ])
  func `damaged bytes are not a path`(bytes: [UInt8]) {
    #expect(PathKeyCoding.decode(bytes) == nil)
  }
}

/// Gives the numbers it was made with, then zeros.
struct FixedChance: RandomNumberGenerator {
  var values: [UInt64]

  mutating func next() -> UInt64 { values.isEmpty ? 0 : values.removeFirst() }
}

extension Array {
  /// A permutation that follows from `seed`.
  func shuffledBySeed(_ seed: UInt64) -> [Element] {
    var chance = SeededRandom(seed: seed)
    return map { ($0, chance.next()) }.sorted { $0.1 < $1.1 }.map(\.0)
  }
}
