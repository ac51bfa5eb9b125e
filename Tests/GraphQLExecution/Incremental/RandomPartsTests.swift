import MartletGraphQLExecution
import MartletJSON
import Testing

/// Documents made up by a seed: whatever they defer and stream, the parts follow the format and are the whole.
@Suite struct RandomPartsTests {
  /// Makes up selections on `Hero`.
  struct Maker {
    var state: UInt64
    var fails: Bool
    private var aliases = 0

    init(seed: UInt64, fails: Bool) {
      state = seed &* 2_862_933_555_777_941_757 &+ 3_037_000_493
      self.fails = fails
    }

    mutating func below(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(bound))
    }

    mutating func document() -> String {
      let root = "hero { \(hero(4)) } heroes(count: 3) @stream(initialCount: 1) { \(hero(3)) }"
      return below(3) == 0 ? "{ ... @defer { \(root) } hero { id } }" : "{ \(root) }"
    }

    mutating func hero(_ depth: Int) -> String {
      var parts: [String] = []
      for _ in 0..<(1 + below(4)) { parts.append(selection(depth)) }
      return parts.joined(separator: " ")
    }

    private mutating func selection(_ depth: Int) -> String {
      let failing = fails ? ["bad", "badNow", "badLater", "strictBest { badLater }", "best { badNow id }"] : []
      let leaves = ["id", "name", "later", "rank", "home { city planet }", "home { ... @defer { later } }"] + failing
      guard depth > 0 else { return leaves[below(4)] }
      switch below(8) {
      case 0, 1, 2: return leaves[below(leaves.count)]
      case 3: return "friends @stream(initialCount: 1) { \(hero(depth - 1)) }"
      case 4: return "best { \(hero(depth - 1)) }"
      case 5: return "... { \(hero(depth - 1)) }"
      default: return "... @defer { \(hero(depth - 1)) }"
      }
    }
  }

  @Test func `parts of random documents are the whole`() async throws {
    let schema = try Heroes.schema()
    var parts = 0
    for seed in 0..<80 {
      var maker = Maker(seed: UInt64(seed), fails: false)
      let document = maker.document()
      let assembly = Assembly(try await schema.parts(document))
      let whole = try await schema.answer(document)
      #expect(assembly.faults == [], "\(document)")
      #expect(assembly.errors == 0)
      #expect(Assembly.sorted(assembly.data) == Assembly.sorted(whole["data"] ?? .null), "\(document)")
      parts += assembly.announced
    }
    #expect(parts > 500)
  }

  @Test func `parts of random documents that fail follow the format and end`() async throws {
    let schema = try Heroes.schema()
    var errors = 0
    for seed in 0..<80 {
      var maker = Maker(seed: UInt64(seed), fails: true)
      let document = maker.document()
      let assembly = Assembly(try await schema.parts(document))
      #expect(assembly.faults == [], "\(document)")
      errors += assembly.errors
    }
    #expect(errors > 50)
  }

  @Test func `random documents in the older shape end with their last payload`() async throws {
    let schema = try Heroes.schema()
    for seed in 0..<40 {
      var maker = Maker(seed: UInt64(seed), fails: seed % 2 == 0)
      let parts = try await schema.parts(maker.document(), format: .older)
      #expect(parts.dropLast().allSatisfy { $0["hasNext"] == true })
      #expect(parts.count == 1 || parts.last?["hasNext"] == false)
      #expect(parts.allSatisfy { $0["pending"] == nil && $0["completed"] == nil })
    }
  }

  @Test func `a part's calls hold back its own batch only`() async throws {
    let batches = Diary()
    let parts = try await Heroes.schema(batches: batches) { schema in
      schema.resolve("Hero", "best") { request in Heroes.hero(Heroes.number(request) * 100) }
    }.parts("{ hero { id ... @defer { a: best { rank } b: best { ... { rank } } rank } } }")
    #expect(Assembly(parts).faults == [])
    // The hero's own rank waits for the calls beside it; each of the two others is a field of its own.
    #expect(batches.entries == ["rank of 1", "rank of 1", "rank of 1"])
  }
}
