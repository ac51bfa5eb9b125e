import Foundation
import MartletRuntime
import Testing

@testable import Checklist

@Suite(.timeLimit(.minutes(1))) struct EveningTests {
  @Test func `two terminals share a list, one of them offline, with a conflict and a refusal`() async throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Examples/Checklist/schema.graphql")
    let lines = Lock<[String]>([])
    try await Evening.play(schema: String(contentsOf: file, encoding: .utf8)) { line in
      lines.withLock { $0.append(line) }
    }
    #expect(
      lines.withLock { $0 } == [
        #"ada | adds "milk""#,
        #"ada | adds "bread""#,
        #"bob | [ ] bread, [ ] milk"#,
        #"bob | has done "milk""#,
        #"ada | [ ] bread, [x] milk"#,
        #"bob | is offline"#,
        #"bob | adds "candles""#,
        #"bob | removes "milk""#,
        #"bob | [ ] bread, [ ] candles …"#,
        #"ada | adds "tea""#,
        #"ada | [ ] bread, [x] milk, [ ] tea"#,
        #"bob | is online, and everything is sent"#,
        #"bob | [ ] bread, [ ] candles, [ ] tea"#,
        #"ada | [ ] bread, [ ] candles, [ ] tea"#,
        #"bob | is offline"#,
        #"bob | calls "bread" "rye bread""#,
        #"ada | calls "bread" "white bread""#,
        #"bob | conflict: "rye bread" here, "white bread" at the server"#,
        #"bob | is online, and everything is sent"#,
        #"bob | [ ] candles, [ ] tea, [ ] white bread"#,
        #"bob | refused: update {"text":"rye bread"} (somebody else has changed it)"#,
        #"bob | makes the refused writes again"#,
        #"ada | [ ] candles, [ ] rye bread, [ ] tea"#,
        #"ada | calls "tea" "a pound of the green tea from the market""#,
        #"ada | [ ] candles, [ ] rye bread, [ ] tea"#,
        #"ada | refused: update {"text":"a pound of the green tea from the market"} (Item.text: An item has at most 24 letters.)"#,
        #"ada | forgets the refused writes"#,
      ])
  }
}
