import MartletJSON
import Testing

@testable import MartletGraphQLClientWire
@testable import MartletGraphQLWire
@testable import MartletHTTPWire
@testable import MartletWire

@Suite struct IncrementalAcceptTests {
  @Test(
    arguments: [
      ("multipart/mixed", .current(spec: nil)),
      ("multipart/mixed;incrementalSpec=v0.2, application/json", .current(spec: "v0.2")),
      ("multipart/mixed; deferSpec=20220824,application/json", .older(spec: "20220824")),
      ("application/json, Multipart/Mixed;deferSpec=\"20220824\"", .older(spec: "20220824")),
      ("multipart/mixed;q=0.5;x=1, application/json;q=0.4", .current(spec: nil)),
      ("multipart/mixed;subscriptionSpec=1.0, multipart/mixed;deferSpec=20220824", .older(spec: "20220824")),
      ("multipart/mixed;subscriptionSpec=1.0, application/json", nil),
      ("multipart/mixed;q=0.5, application/json", nil),
      ("multipart/mixed;q=0", nil),
      ("*/*", nil),
      ("multipart/*", nil),
      ("application/json", nil),
    ] as [(String, IncrementalAccept?)])
  func `Accept says whether and in which shape parts are wanted`(accept: String, wanted: IncrementalAccept?) {
    #expect(IncrementalAccept(AcceptedMediaType.parse(HTTPHeaders([("Accept", accept)]))) == wanted)
  }

  @Test func `no Accept wants one piece`() {
    #expect(IncrementalAccept(AcceptedMediaType.parse(HTTPHeaders())) == nil)
  }

  @Test func `a strange spec is not repeated in a header`() throws {
    let headers = HTTPHeaders([("Accept", "multipart/mixed;incrementalSpec=\"a b\"")])
    let accept = try #require(IncrementalAccept(AcceptedMediaType.parse(headers)))
    #expect(accept.contentType == "multipart/mixed; boundary=\"-\"")
  }

  @Test func `a client that takes parts only is accepted`() throws {
    var headers = HTTPHeaders([("Host", "a"), ("Content-Type", "application/json"), ("Accept", "multipart/mixed")])
    let body = Array(#"{"query":"{a}"}"#.utf8)
    let only = try GraphQLOverHTTP.accept(
      HTTPRequestHead(method: "POST", target: "/graphql", headers: headers), body: body)
    #expect(only.parts == .current(spec: nil) && !only.acceptsOnePiece)
    headers.append("Accept", "application/json")
    let both = try GraphQLOverHTTP.accept(
      HTTPRequestHead(method: "POST", target: "/graphql", headers: headers), body: body)
    #expect(both.parts == .current(spec: nil) && both.acceptsOnePiece)
  }

  @Test func `each part is sent with the delimiter after it`() {
    var writer = MultipartWriter(boundary: "-")
    var pieces: [String] = []
    for json in ["{}", "[1]"] {
      var bytes: [UInt8] = []
      writer.part(Array(json.utf8), to: &bytes)
      pieces.append(String(decoding: bytes, as: UTF8.self))
    }
    var end: [UInt8] = []
    writer.end(to: &end)
    let head = "\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: "
    #expect(pieces == ["\r\n---\(head)2\r\n\r\n{}\r\n---", "\(head)3\r\n\r\n[1]\r\n---"])
    #expect(end == Array("--\r\n".utf8))
  }
}
