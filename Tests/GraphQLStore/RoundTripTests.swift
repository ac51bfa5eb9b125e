import MartletGraphQLStore
import MartletJSON
import MartletVocabulary
import Testing

/// Over random documents and data: what was written is read back, and whatever is read is what the server would say.
@Suite struct RoundTripTests {
  /// How the store comes to know what is the same object and of which type.
  enum Knowledge: CaseIterable {
    case schema, possibleTypes, dataOnly, dataWithoutIDs

    /// Whether an answer is right. Without knowledge of types it may show more than the server's.
    func accepts(_ found: JSONValue?, _ expected: JSONValue) -> Bool {
      switch self {
      case .schema, .possibleTypes: found == expected
      case .dataOnly, .dataWithoutIDs: found.map { Self.covers($0, expected) } ?? false
      }
    }

    private static func covers(_ found: JSONValue, _ expected: JSONValue) -> Bool {
      switch (found, expected) {
      case (.array(let found), .array(let expected)):
        found.count == expected.count && zip(found, expected).allSatisfy { covers($0, $1) }
      case (.object(let found), .object(let expected)):
        expected.allSatisfy { name, value in found[name].map { covers($0, value) } ?? false }
      default: found == expected
      }
    }
  }

  /// Answers how many documents were read back at once, and how many again after others were written.
  private func run(seed: UInt64, _ knowledge: Knowledge) throws -> (atOnce: Int, later: Int) {
    var random = SeededRandom(seed: seed)
    let world = World(seed: seed, asksForIDs: knowledge == .possibleTypes || knowledge == .dataOnly)
    let bench = Bench {
      switch knowledge {
      case .schema: $0.schema = World.schema
      case .possibleTypes: $0.possibleTypes = World.possibleTypes
      case .dataOnly, .dataWithoutIDs: break
      }
    }
    var (atOnce, later) = (0, 0)
    let documents = (0..<6).map { _ in world.document(&random) }
    for (index, document) in documents.enumerated() {
      let text = World.text(document)
      try bench.write(text, world.answer(document, withIdentity: knowledge != .dataWithoutIDs))
      let found = try bench.read(text)
      // Without ids one selection's objects can take the place of another's, and without types a fragment can be such
      // that no data decide whether it applies: a miss, but never a wrong answer.
      if found != nil || knowledge == .schema || knowledge == .possibleTypes {
        atOnce += 1
        #expect(knowledge.accepts(found, world.answer(document, withIdentity: false)), "seed \(seed), document \(text)")
      }
      for other in documents[..<index] {
        guard let found = try bench.read(World.text(other)) else { continue }
        later += 1
        #expect(
          knowledge.accepts(found, world.answer(other, withIdentity: false)),
          "seed \(seed), \(World.text(other)) after \(text)")
      }
    }
    return (atOnce, later)
  }

  @Test(arguments: Knowledge.allCases)
  func `what was written is read back, and no document is answered wrongly`(knowledge: Knowledge) throws {
    var (atOnce, later) = (0, 0)
    for seed in 1...40 as ClosedRange<UInt64> {
      let found = try run(seed: seed, knowledge)
      atOnce += found.atOnce
      later += found.later
    }
    #expect(later > 100)
    switch knowledge {
    case .schema, .possibleTypes: #expect(atOnce == 240)
    case .dataOnly: #expect(atOnce > 230)
    case .dataWithoutIDs: #expect(atOnce > 130)
    }
  }
}
