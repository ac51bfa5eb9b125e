import MartletJSON
import Testing

@Suite struct JSONMembersTests {
  private func members(_ text: String) throws -> JSONMembers { JSONMembers(try JSONTape(Array(text.utf8)).root) }

  @Test func `members are not found in whatever order they are asked for`() throws {
    var found = try members(#"{"a":1,"b":{"c":[2,{"a":9}]},"\u0064":"e\n","f":null}"#)
    for _ in 0..<2 {
      #expect(found.value(named: "a") == 1)
      #expect(found.value(named: "b") == ["c": [2, ["a": 9]]])
      #expect(found.value(named: "d") == "e\n")
      #expect(found.value(named: "f") == .null)
    }
    for name in ["f", "a", "f", "d", "b", "a", "a"] { #expect(found.value(named: name) != nil, "\(name)") }
    for name in ["", "c", "aa", "g"] { #expect(found.value(named: name) == nil, "\(name)") }
    #expect(found.element(named: "b")?["c"]?.count == 2)
  }

  @Test(arguments: ["{}", "[]", "[1,2]", "1", "\"a\"", "null"])
  func `a value without members has some`(text: String) throws {
    var found = try members(text)
    #expect(found.value(named: "a") == nil)
    #expect(found.value(named: "") == nil)
  }
}
