import MartletJSON
import Testing

@testable import MartletGraphQLClientWire
@testable import MartletGraphQLWire
@testable import MartletHTTPWire
@testable import MartletWire

/// What a request about a shared event stream asks for.
@Suite struct SharedEventStreamTests {
  struct Row: Sendable {
    var method = "GET"
    var query: String?
    var accept: String?
    var body = ""
    var opens: Bool
    var accepts: Bool
  }

  @Test(arguments: [
    Row(accept: "text/event-stream", opens: true, accepts: true),
    Row(accept: "text/event-stream;q=0, */*", opens: true, accepts: true),
    Row(accept: nil, opens: true, accepts: true), Row(accept: "*/*", opens: true, accepts: true),
    Row(accept: "text/*;q=0.1", opens: true, accepts: true),
    Row(query: "query=%7Ba%7D", accept: "text/event-stream", opens: true, accepts: true),
    Row(query: "query=%7Ba%7D", accept: "*/*", opens: false, accepts: true),
    Row(query: "extensions=%7B%7D", accept: nil, opens: false, accepts: true),
    // A client that accepts JSON alone asks for an operation, and gets the answer that there is none.
    Row(accept: "application/json", opens: false, accepts: false),
    Row(accept: "gibberish", opens: true, accepts: false), Row(accept: "text/html", opens: true, accepts: false),
    Row(method: "POST", accept: "text/event-stream", opens: true, accepts: true),
    Row(method: "POST", accept: "text/event-stream", body: "{}", opens: false, accepts: true),
    Row(method: "POST", accept: "*/*", opens: false, accepts: true),
    Row(method: "DELETE", accept: "text/event-stream", opens: false, accepts: true),
  ])
  func `a request opens a stream, or starts an operation on it`(row: Row) {
    var head = HTTPRequestHead(
      method: row.method, target: "/graphql/stream" + (row.query.map { "?" + $0 } ?? ""), headers: HTTPHeaders())
    if let accept = row.accept { head.headers.append("Accept", accept) }
    #expect(SharedEventStream.opens(head, body: Array(row.body.utf8)) == row.opens)
    #expect(SharedEventStream.acceptsEvents(head) == row.accepts)
  }

  @Test(
    arguments: [
      (#"{"operationId":"a"}"#, "a"), (#"{"operationId":7}"#, "7"), (#"{"operationId":""}"#, nil),
      (#"{"operationId":null}"#, nil), (#"{"operationId":1.5}"#, nil), ("{}", nil),
    ] as [(String, String?)])
  func `an operation is named by text or a number`(extensions: String, id: String?) throws {
    let object = try #require(try JSONValue(parsing: extensions).object)
    #expect(SharedEventStream.operation(in: object)?.text == id)
  }
}
