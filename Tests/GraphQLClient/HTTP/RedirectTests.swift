import Martlet
import MartletRuntime
import MartletSimulation
import Testing

/// Redirected queries.
@Suite struct RedirectTests {
  private static let fine = ScriptedHTTPServer.Reply.json(#"{"data":{"n":1}}"#)

  private static func redirect(_ status: Int, _ location: String) -> ScriptedHTTPServer.Reply {
    .answer(status: status, type: "text/plain", body: "", more: "Location: \(location)\r\n")
  }

  @Test(arguments: [301, 302, 307, 308])
  func `a query follows a redirect of its origin with its body and its credentials`(status: Int) throws {
    let server = ScriptedHTTPServer { number, _ in number == 1 ? Self.redirect(status, "/v2/graphql") : Self.fine }
    let client = try server.client { $0.credentials = { _ in .bearer("secret") } }
    let answer = try server.executor.run { try await client.query("{ n }") }
    #expect(answer.data?["n"] == 1)
    #expect(
      server.requests.map { $0.head.prefix { $0 != "\r\n" } } == [
        "POST /graphql?v=1 HTTP/1.1", "POST /v2/graphql HTTP/1.1",
      ])
    #expect(server.requests.allSatisfy { $0.has("Authorization: Bearer secret") && $0.body["query"] == "{ n }" })
  }

  @Test(arguments: [
    ("/v2/graphql#top", "/v2/graphql"), ("next", "/next"), ("./next?x=1#y", "/next?x=1"), ("v2/../next/.", "/next/"),
    ("../../next", "/next"), ("?v=2", "/graphql?v=2"), ("//server.test/next", "/next"), ("/a/./b/../next", "/a/next"),
    ("http://server.test/next?x=1#y", "/next?x=1"), ("http://server.test", "/"), ("/v2?x=/a/../b", "/v2?x=/a/../b"),
  ])
  func `a redirect's reference is resolved against the address that was asked`(
    location: String, target: String
  ) throws {
    let server = ScriptedHTTPServer { number, _ in number == 1 ? Self.redirect(307, location) : Self.fine }
    let client = try server.client { $0.credentials = { _ in .bearer("secret") } }
    #expect(try server.executor.run { try await client.query("{ n }").data?["n"] } == 1)
    #expect(server.requests.count == 2)
    #expect(server.requests[1].has("POST \(target) HTTP/1.1"), "\(server.requests[1].head)")
    #expect(server.requests[1].has("Authorization: Bearer secret"))
  }

  @Test func `credentials and header fields do not follow a redirect to another origin`() throws {
    let server = ScriptedHTTPServer { _, request in
      request.has("Host: server.test") ? Self.redirect(308, "http://other.test/graphql") : Self.fine
    }
    let client = try server.client {
      $0.credentials = { _ in .bearer("secret") }
      $0.headers = [(name: "X-API-Key", value: "secret")]
    }
    #expect(try server.executor.run { try await client.query("{ n }").data?["n"] } == 1)
    #expect(server.requests.count == 2)
    #expect(server.requests[0].head.contains("secret") && !server.requests[1].head.contains("secret"))
    #expect(server.requests[1].has("Host: other.test"))
  }

  @Test func `a mutation, a circle and a redirect that cannot be followed end in an error with the status`() throws {
    func error(_ location: String, _ document: String = "{ n }") throws -> GraphQLClientError? {
      let server = ScriptedHTTPServer { _, _ in Self.redirect(307, location) }
      let client = try server.client()
      let error = try server.executor.failure {
        _ = document == "{ n }" ? try await client.query(document) : try await client.mutate(document)
      }
      #expect(server.requests.count == (location == "/graphql" && document == "{ n }" ? 6 : 1))
      return error
    }
    let circle = try error("/graphql")
    #expect(circle?.code == .httpStatus && circle?.status == 307)
    #expect(try error("/graphql", "mutation { n }")?.status == 307)
    #expect(try error("ftp://other.test/")?.status == 307)
    #expect(try error("mailto:someone@other.test")?.status == 307)
    #expect(try error("/with a space")?.code == .httpStatus)
  }
}
