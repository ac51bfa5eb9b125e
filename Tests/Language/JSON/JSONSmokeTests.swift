import Foundation
import MartletJSON
import Testing

@Suite struct JSONSmokeTests {
  @Test func `values survive a round trip and integers stay exact`() throws {
    let text =
      #"{"a":[1,-2,9223372036854775807,18446744073709551615,1.5,-0.0,1e300],"é":"\u00e9\ud83d\ude00\n","n":null,"t":true}"#
    let value = try JSONValue(parsing: text)
    #expect(value["a"]?[2] == .int(.max))
    #expect(value["a"]?[3] == .uint(.max))
    #expect(value["é"] == "é😀\n")
    #expect(try JSONValue(parsing: value.serialized()) == value)
    let object = try JSONSerialization.jsonObject(with: Data(value.serialized())) as? NSDictionary
    #expect(object?.count == 4)
  }

  @Test(arguments: [
    "", "{", "[1,]", "{\"a\":1,}", "01", "1.", "1e", "-", "\"\\x\"", "\"\\ud800\"", "\"\u{1}\"", "nul", "[1 2]",
    "{\"a\" 1}",
    "1 2", "{\"a\":1,\"a\":2}", "1e999", "]", "{1:2}",
  ])
  func `malformed text is refused`(text: String) {
    #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
  }

  @Test func `composed and decomposed names are two members`() throws {
    let value = try JSONValue(parsing: "{\"e\u{301}\":1,\"\u{e9}\":2}")
    #expect(value.object?.count == 2)
    #expect(value["e\u{301}"] == 1)
    #expect(value["\u{e9}"] == 2)
  }

  @Test func `depth is a limit, not a stack`() {
    let deep = String(repeating: "[", count: 100_000)
    #expect(throws: JSONError(.tooDeep, at: 128)) { try JSONValue(parsing: deep) }
  }
}
