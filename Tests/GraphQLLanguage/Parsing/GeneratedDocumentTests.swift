import MartletGraphQLLanguage
import Testing

@Suite struct `Generated documents` {
  @Test(arguments: 0..<8)
  func `are read back as they were printed`(batch: Int) throws {
    for seed in (batch * 250)..<(batch * 250 + 250) {
      var generator = DocumentGenerator(seed: seed)
      let document = generator.document()
      let text = Printer.text(of: document)
      let read = try Parser.parse(text, limits: .schema)
      #expect(read == document, "seed \(seed)")
      #expect(Printer.text(of: read) == text, "seed \(seed)")
    }
  }

  @Test(arguments: 0..<8)
  func `with damaged bytes end in an error or a document, and never a trap`(batch: Int) throws {
    let schema = try Schema.build(RuleRow.schema)
    var documents = 0
    for seed in (batch * 400)..<(batch * 400 + 400) {
      var generator = DocumentGenerator(seed: seed)
      var random = TestRandom(seed: seed + 1)
      var bytes = Array(Printer.text(of: generator.document()).utf8)
      for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
        let index = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: index)
        case 2: bytes.insert(contentsOf: Array("\"\"\"".utf8), at: index)
        default: bytes.removeLast(bytes.count - index)
        }
      }
      do {
        let document = try Parser.parse(bytes)
        documents += 1
        _ = Validator.validate(document, against: schema)
        _ = try? Schema.build(from: document)
      } catch {
        #expect(error.location.offset <= bytes.count)
        #expect(error.location.line >= 1)
      }
    }
    #expect(documents > 0)
  }

  @Test func `of random bytes end in an error`() {
    var random = TestRandom(seed: 5)
    for length in 0..<400 {
      let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
      #expect(throws: SyntaxError.self) { try Parser.parse(bytes) }
    }
  }
}
