import Testing

/// Blocks are found by the shape of their document. The documents here are made up.
@Suite struct ExtractionTests {
  private func blocks(_ text: String) -> [String] {
    SeedDocument(seed: "777", text: text).blocks.map { block in
      "\(block.name) \(block.language): " + block.lines.joined(separator: "|")
    }
  }

  @Test func `Markdown gives what stands between its fences, in the languages that count`() {
    let text = "Say:\n```swift\nlet a = 1\n\n```\nor\n```sh\nls\n```\n```graphql\n{ a }\n```\n```swift\nf()\n```"
    #expect(blocks(text) == ["777-1 swift: let a = 1|", "777-2 graphql: { a }", "777-3 swift: f()"])
  }

  @Test func `numbered lines are a block until a number is missing`() {
    let text = """
      Swift
      1let a = [
      2  1,
      3
      4]
      6 apples
      Swift is fine.
      GraphQL
      Names.graphql
      1{ a }
      2
      done
      """
    #expect(blocks(text) == ["777-1 swift: let a = [|  1,||]", "777-2 graphql: { a }|"])
  }

  @Test func `plain text gives paragraphs of code, one for each variant`() {
    let text = """
      Let us call f(x) and see.

      var a: Int
      var a: String?
      func f() {
      whatever this is, it is inside
      }
      // again
      func f() {
      }

      a.f(...) does it.
      a.f()
      let b = g("(") // odd
      a.f()
      """
    #expect(
      blocks(text) == [
        "777-1 swift: var a: Int", "777-2 swift: var a: String?|func f() {|whatever this is, it is inside|}",
        "777-3 swift: // again|func f() {|}", "777-4 swift: a.f()|let b = g(\"(\") // odd|a.f()",
      ])
  }

  @Test func `a lone call is a part of a sentence, and other languages are left alone`() {
    #expect(blocks("a.f()\nis called.") == [])
    #expect(blocks("const a = b();\nlet c = a.d();") == [])
    #expect(blocks("val a = b()\na.c { }") == [])
    #expect(blocks("import com.example.*\na.c()") == [])
  }

  @Test func `what a program prints is cut at its interpolations`() {
    let lines = [#"if a { print("a \(b(c)) d \(e)!") }"#, #"print("plain")"#, "print(a)"]
    #expect(SwiftText.literals(of: "print", in: lines) == [["a ", " d ", "!"], ["plain"]])
  }
}
