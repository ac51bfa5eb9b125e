import Martlet
import Testing

@Suite struct ServerErrorTests {
  @Test func `an error has its message, locations, path and extensions`() {
    let error = GraphQLServerError([
      "message": "no gate", "locations": [["line": 2, "column": 5]], "path": ["flights", 3, "gate"],
      "extensions": ["code": "NOT_FOUND"],
    ])
    #expect(error.message == "no gate")
    #expect(error.locations == [.init(line: 2, column: 5)])
    #expect(error.path == [.field("flights"), .index(3), .field("gate")])
    #expect(error.extensions["code"] == "NOT_FOUND" && error["message"] == "no gate")
    #expect("\(error)" == "no gate (at flights.3.gate)")
  }

  @Test(
    arguments: ["text", 1, ["message": 7], ["path": "x", "locations": [["line": "2"]], "extensions": []]] as [JSONValue]
  )
  func `what a server should not send leaves members empty`(json: JSONValue) {
    let error = GraphQLServerError(json)
    #expect(error.message.isEmpty && error.locations.isEmpty && error.path.isEmpty && error.extensions.isEmpty)
    #expect(error.json == json)
  }
}
