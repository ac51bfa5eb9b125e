import MartletTracing
import MartletVocabulary
import Testing

@Suite struct TraceContextTests {
  private static let text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

  @Test func `the specification's example is read and written as it stands`() throws {
    let context = try #require(TraceContext(Self.text))
    #expect(context.high == 0x4bf9_2f35_77b3_4da6 && context.low == 0xa3ce_929d_0e0e_4736)
    #expect(context.span == 0x00f0_67aa_0ba9_02b7 && context.isSampled)
    #expect(context.description == Self.text)
  }

  @Test func `other text is none, and a later version may have more fields`() {
    let later = "cc-" + Self.text.dropFirst(3)
    #expect(TraceContext(later)?.span == 0x00f0_67aa_0ba9_02b7 && TraceContext(later + "-what-comes") != nil)
    #expect(TraceContext(later + "x") == nil && TraceContext(Self.text + "-more") == nil)
    #expect(TraceContext("ff-" + Self.text.dropFirst(3)) == nil)
    for index in Self.text.indices {
      var changed = Self.text
      changed.replaceSubrange(index...index, with: "G")
      #expect(TraceContext(changed) == nil, "\(changed)")
      #expect(TraceContext(String(Self.text[..<index])) == nil)
    }
    #expect(TraceContext(Self.text.uppercased()) == nil)
    #expect(TraceContext("00-00000000000000000000000000000000-00f067aa0ba902b7-01") == nil)
    #expect(TraceContext("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01") == nil)
    #expect(TraceContext("") == nil)
  }

  @Test func `whether it is recorded is the last bit of the flags alone`() throws {
    for (flags, isSampled) in [("00", false), ("01", true), ("02", false), ("ff", true)] {
      #expect(TraceContext(Self.text.dropLast(2) + flags)?.isSampled == isSampled)
    }
  }

  @Test func `a child has its parent's trace and a span of its own, and every drawn place can be read again`() throws {
    var chance = SeededRandom(seed: 7)
    for _ in 0..<100 {
      let root = TraceContext(using: &chance, isSampled: false)
      let child = root.child(using: &chance)
      #expect(child.high == root.high && child.low == root.low && child.span != root.span && !child.isSampled)
      #expect(TraceContext("\(child)") == child)
    }
  }
}

extension TraceContext {
  fileprivate init?(_ text: Substring) { self.init(String(text)) }
}
