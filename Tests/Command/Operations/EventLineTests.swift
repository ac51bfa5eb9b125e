import MartletCommandLine
import MartletJSON
import Testing

@testable import MartletCommand

@Suite struct EventLineTests {
  @Test func `an event is printed as its cursor and its response`() {
    let line = EventLine.event(["data": ["tick": 1], "errors": []], cursor: "9f-7")
    #expect(JSONValue.object(line).description == #"{"cursor":"9f-7","data":{"tick":1},"errors":[]}"#)
  }

  @Test func `an event that more of its transaction follow says so, and the last one does not`() {
    let line = EventLine.event(["data": ["tick": 1]], cursor: "9f-7", endsTransaction: false)
    #expect(JSONValue.object(line).description == #"{"cursor":"9f-7","endsTransaction":false,"data":{"tick":1}}"#)
    #expect(EventLine.event(["data": ["tick": 1]], cursor: "9f-7", endsTransaction: true)["endsTransaction"] == nil)
  }

  @Test func `an event of a server without cursors has none`() {
    #expect(JSONValue.object(EventLine.event(["data": nil], cursor: nil)).description == #"{"data":null}"#)
  }

  @Test func `a gap is a line of its own`() {
    let line = EventLine.gap(reason: "retention", from: "9f-7", to: "9f-90", dropped: nil)
    #expect(JSONValue.object(line).description == #"{"gap":{"reason":"retention","from":"9f-7","to":"9f-90"}}"#)
  }

  @Test(arguments: [
    ("localhost:8080", "http://localhost:8080/graphql"),
    ("http://localhost:8080/", "http://localhost:8080/graphql"),
    ("wss://a.example/api", "wss://a.example/api"),
    ("https://[::1]:1", "https://[::1]:1/graphql"),
  ])
  func `scheme and path of a URL may be left out`(word: String, url: String) throws {
    #expect(try OperationInput.url(word) == url)
  }

  @Test(arguments: ["ftp://a", "http://", "://x"])
  func `what is not a URL is refused`(word: String) {
    #expect(throws: UsageError.self) { try OperationInput.url(word) }
  }

  @Test func `headers and variables are read`() throws {
    let options = CommandSpecification(
      name: "query", summary: "", operands: OperationInput.operands, options: OperationInput.options)
    let arguments = try ParsedArguments(
      ["h:1", "{ a }", "--header", "x-api-key: k:1", "--header", "b:", "--variables", #"{"a":[1]}"#], for: options)
    let input = try OperationInput(arguments, for: .query)
    #expect(input.headers.map(\.name) == ["x-api-key", "b"])
    #expect(input.headers.map(\.value) == ["k:1", ""])
    #expect(input.variables == ["a": [1]])
    #expect(input.document == "{ a }")
  }

  @Test func `pretty JSON is the same value on more lines`() throws {
    let value: JSONValue = ["a": [1, ["b": "ü\n"]], "c": [], "d": [:]]
    let text = ReadableJSON.pretty(value)
    #expect(try JSONValue(parsing: text) == value)
    #expect(text.split(separator: "\n").count == 10)
  }
}
