import MartletGraphQLLanguage
import Testing

@Suite struct `Limits of documents` {
  private func kind(_ source: String, _ limits: ParserLimits = .request) -> SyntaxError.Kind? {
    do {
      _ = try Parser.parse(source, limits: limits)
      return nil
    } catch {
      return error.kind
    }
  }

  private func limits(_ change: (inout ParserLimits) -> Void) -> ParserLimits {
    var limits = ParserLimits.request
    change(&limits)
    return limits
  }

  @Test func `hold up to the value and refuse by type beyond it`() {
    #expect(kind("{a}", limits { $0.bytes = 3 }) == nil)
    #expect(kind("{a}", limits { $0.bytes = 2 }) == .limit(.bytes, allowed: 2))
    // The end of the document counts as a token.
    #expect(kind("{a}", limits { $0.tokens = 4 }) == nil)
    #expect(kind("{a}", limits { $0.tokens = 3 }) == .limit(.tokens, allowed: 3))
    #expect(kind("{a b:c}", limits { $0.aliases = 1 }) == nil)
    #expect(kind("{d:a b:c}", limits { $0.aliases = 1 }) == .limit(.aliases, allowed: 1))
    #expect(kind("{a@x b}", limits { $0.directives = 1 }) == nil)
    #expect(kind("{a@x b@x}", limits { $0.directives = 1 }) == .limit(.directives, allowed: 1))
    #expect(kind("{a b}", limits { $0.fields = 2 }) == nil)
    #expect(kind("{a b c}", limits { $0.fields = 2 }) == .limit(.fields, allowed: 2))
    #expect(kind("{a{b}}", limits { $0.depth = 2 }) == nil)
    #expect(kind("{a{b{c}}}", limits { $0.depth = 2 }) == .limit(.depth, allowed: 2))
    #expect(kind("{a(b:[{c:1}])}", limits { $0.depth = 3 }) == nil)
    #expect(kind("{a(b:[[{c:1}]])}", limits { $0.depth = 3 }) == .limit(.depth, allowed: 3))
  }

  @Test(arguments: [("", "{a"), ("{a(b:", "["), ("{a(b:", "{c:"), ("query($a:", "[")])
  func `bound the stack whatever the setting`(opening: String, repeated: String) {
    let source = opening + String(repeating: repeated, count: 100_000)
    let error = kind(source, limits { ($0.depth, $0.tokens) = (.max, .max) })
    guard case .limit(.depth, let allowed) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(allowed <= ParserLimits.maximumDepth)
  }

  private func messages(_ source: String, _ limits: ValidationLimits = ValidationLimits()) throws -> [String] {
    let schema = try Schema.build("type Query { a: Query b(limit: Int): [Query] c: Int }")
    var wide = ParserLimits.schema
    wide.fields = .max
    return Validator.validate(try Parser.parse(source, limits: wide), against: schema, limits: limits).map(\.message)
  }

  @Test func `count the depth with fragments expanded`() throws {
    var source = "{...F0}"
    for number in 0..<2000 { source += " fragment F\(number) on Query {c ...F\(number + 1)}" }
    source += " fragment F2000 on Query {c}"
    #expect(
      try messages(source) == ["The document is nested 2002 levels deep with its fragments; at most 128 are allowed."])
    // A cycle has no depth, so that a long one is refused for being one.
    let cycle = source.replacingF2000()
    #expect(try messages(cycle).count == 1)
    #expect(try messages(cycle).first?.hasPrefix("Cannot spread fragment 'F0' within itself via 'F1'") == true)
  }

  @Test func `bound the comparisons of fields with one name`() throws {
    let source = "{" + String(repeating: "a{c} ", count: 2000) + "}"
    let messages = try messages(source)
    #expect(messages.contains { $0.hasPrefix("The document needs more than 100000 comparisons") })
    #expect(messages.count == 1)
  }

  @Test func `bound the number of errors`() throws {
    let source = "{" + (0..<300).map { "x\($0) " }.joined() + "}"
    let messages = try messages(source)
    #expect(messages.count == 101)
    #expect(messages.last == "Too many validation errors, error limit reached. Validation aborted.")
  }

  @Test func `bound the estimated cost`() throws {
    let schema = try Schema.build("type Query { a: Query b(limit: Int): [Query] c: Int }")
    func cost(_ source: String) throws -> Int {
      let document = try Parser.parse(source)
      let operation = try #require(document.operations.first)
      return OperationCost.estimate(operation, in: document, schema: schema) { $0 == "n" ? 7 : nil }
    }
    #expect(try cost("{c}") == 1)
    #expect(try cost("{a{c c}}") == 3)
    #expect(try cost("{b{c}}") == 11)
    #expect(try cost("{b(limit:3){b(limit:2){c}}}") == 10)
    #expect(try cost("query($n:Int){b(limit:$n){c}}") == 8)
    #expect(try cost("{...F a{...F}} fragment F on Query{b{c}}") == 23)
    // A page's size counts once, for the lists directly below the page.
    let pages = try Schema.build(
      "type Query { a(limit: Int): Page n: Int } type Page { items: [Query] nextToken: Int more: Page }")
    func paged(_ source: String) throws -> Int {
      let document = try Parser.parse(source)
      return OperationCost.estimate(try #require(document.operations.first), in: document, schema: pages)
    }
    #expect(try paged("{a(limit:2){items{n} nextToken}}") == 5)
    #expect(try paged("{a{items{n} nextToken}}") == 13)
    #expect(try paged("{a(limit:2){...P}} fragment P on Page{items{n}}") == 4)
    #expect(try paged("{a(limit:2){...P} b:a(limit:3){...P}} fragment P on Page{items{n}}") == 9)
    #expect(try paged("{a(limit:2){more{items{n}}}}") == 13)
    // A list or page has no more than the largest, whatever is asked for.
    #expect(try messages("{b(limit:1000000){c}}", ValidationLimits(complexity: 51, largestPage: 50)) == [])
    // The default of such an argument counts where the request does not say otherwise.
    let sized = try Schema.build(
      "type Query { a(first: Int = 3): [Query] p(limit: Int = 4): Page n: Int } type Page { items: [Query] }")
    func defaulted(_ source: String) throws -> Int {
      let document = try Parser.parse(source)
      return OperationCost.estimate(try #require(document.operations.first), in: document, schema: sized)
    }
    #expect(try defaulted("{a{n}}") == 4 && defaulted("{a(first:2){n}}") == 3)
    #expect(try defaulted("query($n:Int){a(first:$n){n}}") == 4)
    #expect(try defaulted("{p{items{n}}}") == 6 && defaulted("{p(limit:1){items{n}}}") == 3)
    let levels = String(repeating: "a(limit:2){items{", count: 5) + "n" + String(repeating: "}}", count: 5)
    #expect(try paged("{\(levels)}") < 250)
    let deep = String(repeating: "b(limit:1000000){", count: 40) + "c" + String(repeating: "}", count: 40)
    #expect(try cost("{\(deep)}") == OperationCost.most + 1 || cost("{\(deep)}") == OperationCost.most)
    #expect(try messages("{\(deep)}").count == 1)
    #expect(
      try messages("query Q {b{b{c}}}", ValidationLimits(complexity: 100)).first?.contains("'Q' is too complex") == true
    )
    #expect(try messages("query Q {b{b{c}}}", ValidationLimits(complexity: 111)) == [])
  }
}

extension String {
  /// The chain of fragments with its end tied to its start.
  fileprivate func replacingF2000() -> String {
    let end = " fragment F2000 on Query {c}"
    return String(dropLast(end.count)) + " fragment F2000 on Query {...F0}"
  }
}
