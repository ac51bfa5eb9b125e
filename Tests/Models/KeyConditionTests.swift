import MartletJSON
import MartletModels
import Testing

@Suite struct KeyConditionTests {
  static let keys: [(String, Int64)] = [("a", 1), ("a", 2), ("ab", 1), ("b", 0), ("b", 9)]

  func found(_ condition: JSONValue, fields: [Int] = [1, 2]) throws -> [Int] {
    var reader = FilterReader(try FilterReaderTests.model("day: String! number: Int!"))
    let predicate = try reader.readKey(condition, fields: fields, path: "dayNumber")
    return Self.keys.indices.filter { position in
      predicate.matches(Record(values: ["x", .string(Self.keys[position].0), .int(Self.keys[position].1)]))
    }
  }

  @Test func `composite keys compare field by field as far as values are given`() throws {
    #expect(try found(["eq": ["day": "a"]]) == [0, 1])
    #expect(try found(["eq": ["day": "a", "number": 2]]) == [1])
    #expect(try found(["lt": ["day": "ab", "number": 1]]) == [0, 1])
    #expect(try found(["le": ["day": "ab", "number": 1]]) == [0, 1, 2])
    #expect(try found(["gt": ["day": "a", "number": 1]]) == [1, 2, 3, 4])
    #expect(try found(["ge": ["day": "b"]]) == [3, 4])
    #expect(try found(["between": [["day": "a", "number": 2], ["day": "b", "number": 0]]]) == [1, 2, 3])
    #expect(try found(["beginsWith": ["day": "a"]]) == [0, 1, 2])
  }

  @Test func `a key of one field has its operators directly and no condition is not a limit`() throws {
    #expect(try found(["beginsWith": "a"], fields: [1]) == [0, 1, 2])
    #expect(try found(.null) == [0, 1, 2, 3, 4])
  }

  @Test func `a condition that skips a field of the key is refused`() {
    for (condition, path) in [
      (["eq": ["number": 1]], "dayNumber.eq.number"), (["eq": [:]], "dayNumber.eq"),
      (["between": [["day": "a"]]], "dayNumber.between"),
      (["beginsWith": ["day": "a", "number": 1]], "dayNumber.beginsWith"),
      (["like": ["day": "a"]], "dayNumber.like"),
    ] as [(JSONValue, String)] {
      #expect(throws: FilterError.self) { try found(condition) }
      do { _ = try found(condition) } catch { #expect((error as? FilterError)?.path == path) }
    }
  }
}
