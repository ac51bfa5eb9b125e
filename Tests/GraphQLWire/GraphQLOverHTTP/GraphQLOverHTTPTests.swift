import MartletJSON
import Testing

@testable import MartletGraphQLClientWire
@testable import MartletGraphQLWire
@testable import MartletHTTPWire
@testable import MartletWire

@Suite struct GraphQLOverHTTPTests {
  typealias Failure = GraphQLOverHTTP.RequestFailure

  private func post(
    _ body: String, type: String? = "application/json", accept: String? = nil
  ) throws(Failure) -> GraphQLOverHTTP.Accepted {
    var headers = HTTPHeaders([("Host", "a")])
    if let type { headers.append("Content-Type", type) }
    if let accept { headers.append("Accept", accept) }
    return try GraphQLOverHTTP.accept(
      HTTPRequestHead(method: "POST", target: "/graphql", headers: headers), body: Array(body.utf8))
  }

  private func get(_ query: String, method: String = "GET") throws(Failure) -> GraphQLOverHTTP.Accepted {
    try GraphQLOverHTTP.accept(
      HTTPRequestHead(method: method, target: "/graphql?" + query, headers: HTTPHeaders([("Host", "a")])), body: [])
  }

  // MARK: POST

  @Test func `a POST carries query, operationName, variables and extensions`() throws {
    let accepted = try post(
      #"{"query":"{a}","operationName":"Q","variables":{"x":1},"extensions":{"e":true},"unknown":7}"#)
    #expect(
      accepted.request
        == RequestPayload(query: "{a}", operationName: "Q", variables: ["x": 1], extensions: ["e": true]))
    #expect(!accepted.isGET)
  }

  @Test func `null members count as absent`() throws {
    let accepted = try post(#"{"query":"{a}","operationName":null,"variables":null,"extensions":null}"#)
    #expect(accepted.request == RequestPayload(query: "{a}"))
  }

  @Test(
    arguments: [
      ("", .notJSON), ("{", .notJSON), ("[]", .wrongType), ("\"x\"", .wrongType), ("{}", .missingQuery),
      (#"{"query":null}"#, .missingQuery), (#"{"query":7}"#, .wrongType),
      (#"{"query":"{a}","variables":[]}"#, .wrongType),
      (#"{"query":"{a}","variables":"{}"}"#, .wrongType), (#"{"query":"{a}","operationName":[]}"#, .wrongType),
      (#"{"query":"{a}","extensions":0}"#, .wrongType),
    ] as [(String, GraphQLRequestError.Rule)])
  func `a body that is not a request is answered with 400`(body: String, rule: GraphQLRequestError.Rule) {
    do {
      _ = try post(body)
      Issue.record("accepted")
    } catch {
      #expect(error.status == 400)
      guard case .request(let inner) = error.reason else {
        Issue.record("\(error)")
        return
      }
      #expect(inner.rule == rule)
    }
  }

  @Test(
    arguments: [
      (nil, false), ("text/plain", false), ("application/x-www-form-urlencoded", false),
      ("multipart/form-data; boundary=x", false), ("application/graphql", false), ("application/jsonp", false),
      ("application/json; charset=latin1", false), ("application/json", true), ("Application/JSON", true),
      ("application/json; charset=utf-8", true), ("application/json;charset=\"UTF-8\"", true),
      ("application/json; charset=utf8", true), ("application/json; charset=utf-16", false),
      ("application/json;", true),
    ] as [(String?, Bool)])
  func `only JSON in UTF-8 is taken, as forms and plain text need no preflight`(type: String?, taken: Bool) {
    do {
      _ = try post(#"{"query":"{a}"}"#, type: type)
      #expect(taken)
    } catch {
      #expect(!taken && error.reason == .contentType && error.status == 415)
    }
  }

  // MARK: GET

  @Test func `a GET carries its parameters in the query`() throws {
    let accepted = try get("query=query+Q%7Ba%7D&operationName=Q&variables=%7B%22x%22:%22%C3%A9%22%7D&extensions=")
    #expect(accepted.request == RequestPayload(query: "query Q{a}", operationName: "Q", variables: ["x": "é"]))
    #expect(accepted.isGET)
  }

  @Test func `parameters of other names are somebody else's, also when they are malformed or come twice`() throws {
    #expect(try get("utm=%zz&x=1&x=2&%zz=1&query=%7Ba%7D&").request.query == "{a}")
  }

  @Test(arguments: [("gzip", false), ("identity, br", false), ("identity", true), ("", true)])
  func `a compressed body is refused by name`(coding: String, taken: Bool) {
    let head = HTTPRequestHead(
      method: "POST", target: "/graphql",
      headers: HTTPHeaders([("Content-Type", "application/json"), ("Content-Encoding", coding)]))
    do {
      _ = try GraphQLOverHTTP.accept(head, body: Array(#"{"query":"{a}"}"#.utf8))
      #expect(taken)
    } catch {
      #expect(!taken && error.reason == .contentCoding && error.status == 415)
      #expect(error.response.head.headers["Accept-Encoding"] == "identity")
    }
  }

  @Test func `an operation may be called null`() throws {
    #expect(try get("query=%7Ba%7D&operationName=null").request.operationName == "null")
  }

  @Test(
    arguments: [
      ("", .missingQuery), ("query=", .missingQuery), ("query=a&query=b", .malformedParameter),
      ("query=%7", .malformedParameter), ("query=%zz", .malformedParameter), ("query=%FF", .malformedParameter),
      ("query=a&variables=x", .malformedParameter), ("query=a&variables=[]", .wrongType),
    ] as [(String, GraphQLRequestError.Rule)])
  func `a faulty query string is answered with 400`(query: String, rule: GraphQLRequestError.Rule) {
    do {
      _ = try get(query)
      Issue.record("accepted")
    } catch {
      guard case .request(let inner) = error.reason else {
        Issue.record("\(error)")
        return
      }
      #expect(inner.rule == rule && error.status == 400)
    }
  }

  @Test func `other methods and mutations by GET are answered with 405 and what is allowed`() {
    #expect(throws: Failure(.method, responseType: .json)) { try get("query=a", method: "PUT") }
    let method = Failure(.method, responseType: .json)
    #expect(method.response.head.status == 405 && method.response.head.headers["Allow"] == "GET, POST")
    let mutation = Failure(.mutationOverGET, responseType: .graphQLResponse)
    #expect(mutation.response.head.headers["Allow"] == "POST")
    #expect(mutation.response.head.headers["Content-Type"] == "application/graphql-response+json; charset=utf-8")
    #expect(
      String(decoding: mutation.response.body, as: UTF8.self) == #"{"errors":[{"message":"mutations need POST"}]}"#)
  }

  // MARK: Accept

  @Test(
    arguments: [
      (nil, .json), ("*/*", .json), ("application/*", .json), ("application/json", .json),
      ("application/graphql-response+json", .graphQLResponse),
      ("application/graphql-response+json, application/json;q=0.9", .graphQLResponse),
      ("application/json, application/graphql-response+json", .json),
      ("application/json;q=0.9, application/graphql-response+json;q=0.8", .json),
      ("application/json;q=0.1,application/graphql-response+json;Q=0.8", .graphQLResponse),
      ("text/html, */*;q=0.1", .json), ("application/json;q=0, */*", .graphQLResponse),
      ("APPLICATION/GraphQL-Response+JSON; charset=utf-8", .graphQLResponse),
      ("multipart/mixed;subscriptionSpec=\"1.0, x\", application/json", .json),
      ("nonsense, application/graphql-response+json", .graphQLResponse), ("nonsense", .json),
    ] as [(String?, GraphQLOverHTTP.ResponseType)])
  func `the client's wish decides the response type`(accept: String?, type: GraphQLOverHTTP.ResponseType) throws {
    #expect(try post(#"{"query":"{a}"}"#, accept: accept).responseType == type)
  }

  @Test(arguments: ["text/html", "application/json;q=0", "image/*, text/*"])
  func `nothing acceptable is answered with 406`(accept: String) {
    #expect(throws: Failure(.notAcceptable, responseType: .json)) { try post(#"{"query":"{a}"}"#, accept: accept) }
    #expect(Failure(.notAcceptable, responseType: .json).status == 406)
  }

  @Test func `status codes are those of the audits`() {
    #expect(GraphQLOverHTTP.status(.executed, as: .json) == 200)
    #expect(GraphQLOverHTTP.status(.executed, as: .graphQLResponse) == 200)
    #expect(GraphQLOverHTTP.status(.refused, as: .json) == 200)
    #expect(GraphQLOverHTTP.status(.refused, as: .graphQLResponse) == 400)
  }

  @Test func `weights are read to three decimals and not beyond one`() {
    func weight(_ text: String) -> Int? {
      AcceptedMediaType.parse(HTTPHeaders([("Accept", "a/b;q=\(text)")])).first?.weight
    }
    #expect(weight("0.123") == 123 && weight("1.000") == 1000 && weight("1.") == 1000 && weight("0") == 0)
    #expect(weight("1.001") == nil && weight("0.1234") == nil && weight("2") == nil && weight("-1") == nil)
  }
}
