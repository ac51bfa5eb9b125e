import MartletJSON
import MartletModels
import Testing

/// Values of which a client has a part.
@Suite struct FieldValueTests {
  @Test func `a value that lacks members of the stored one counts as another, or one with other members as the same`() {
    #expect(FieldValue.holds(["a": 1, "b": 2], ["a": 1.0]))
    #expect(FieldValue.holds([["a": 1, "b": 2]], [["a": 1]]))
    #expect(FieldValue.holds(["a": 1], ["a": 1, "b": .null]))
    #expect(!FieldValue.holds(["a": 1, "b": 2], ["a": 1, "b": .null]))
    #expect(!FieldValue.holds(["a": 1], ["a": 2]))
    #expect(!FieldValue.holds([["a": 1], ["a": 2]], [["a": 1]]))
    #expect(!FieldValue.holds(["a": 1], .null))
  }

  @Test func `a write drops members that its client does not have, or keeps those that it removes`() {
    let stored: JSONValue = ["a": 1, "b": ["c": 1, "d": 2], "e": 3]
    #expect(
      FieldValue.written(["b": ["c": 9]], over: stored, knowing: ["a": 1, "b": ["c": 1]])
        == ["b": ["c": 9, "d": 2], "e": 3])
    #expect(FieldValue.written(["e": 4], over: ["e": 3], knowing: [:]) == ["e": 4])
    #expect(FieldValue.written(.null, over: stored, knowing: ["a": 1]) == .null)
    #expect(
      FieldValue.written([["a": 2], ["a": 1]], over: [["a": 1, "b": 1]], knowing: [["a": 1]])
        == [["a": 2], ["a": 1, "b": 1]])
  }
}
