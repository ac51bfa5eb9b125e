import Martlet
import MartletRuntime
import MartletSimulation
import Testing

/// Operations named by their hash, against a scripted peer.
@Suite struct PersistedTests {
  private typealias Reply = ScriptedHTTPServer.Reply
  private static let fine = Reply.json(#"{"data":{"n":1}}"#)
  private static let unknown = Reply.json(
    #"{"errors":[{"message":"PersistedQueryNotFound","extensions":{"code":"PERSISTED_QUERY_NOT_FOUND"}}]}"#, status: 400
  )

  private func reference(_ request: ScriptedHTTPServer.Request) -> String? {
    request.body["extensions"]?["persistedQuery"]?["sha256Hash"]?.string
  }

  @Test func `nothing is named by its hash unless it is switched on`() throws {
    let server = ScriptedHTTPServer { _, _ in Self.fine }
    let client = try server.client()
    try server.executor.run { _ = try await client.query("{ n }") }
    #expect(server.requests.first?.body == ["query": "{ n }"])
  }

  @Test func `the hash goes first, the document once when it is asked for, and then the hash alone`() throws {
    var known: Set<String> = []
    let server = ScriptedHTTPServer { _, request in
      guard let hash = request.body["extensions"]?["persistedQuery"]?["sha256Hash"]?.string else { return .cut }
      if request.body["query"] != nil { known.insert(hash) }
      return known.contains(hash) ? Self.fine : Self.unknown
    }
    let client = try server.client { $0.persistedOperations = PersistedOperationPolicy() }
    try server.executor.run {
      for _ in 0..<3 { _ = try await client.query("{ n }") }
      // A mutation as well: nothing was executed when its document was asked for.
      try await client.mutate("mutation { n }")
    }
    #expect(server.requests.map { $0.body["query"]?.string ?? "-" } == ["-", "{ n }", "-", "-", "-", "mutation { n }"])
    #expect(server.requests.allSatisfy { $0.body["extensions"]?["persistedQuery"]?["version"] == 1 })
    #expect(server.requests.allSatisfy { reference($0)?.utf8.count == 64 })
    #expect(Set(server.requests.prefix(4).compactMap(reference)).count == 1)
  }

  @Test func `a server may say it with 200, in json, beside data that are null`() throws {
    for reply in [
      Reply.answer(status: 200, type: "application/json", body: #"{"errors":[{"message":"PersistedQueryNotFound"}]}"#),
      .json(#"{"data":null,"errors":[{"message":"PersistedQueryNotFound"}]}"#),
      .answer(status: 400, type: "application/json", body: #"{"errors":[{"message":"PersistedQueryNotFound"}]}"#),
    ] {
      let server = ScriptedHTTPServer { number, _ in number == 1 ? reply : Self.fine }
      let client = try server.client { $0.persistedOperations = PersistedOperationPolicy() }
      #expect(try server.executor.run { try await client.query("{ n }").data?["n"] } == 1)
      #expect(server.requests.count == 2)
    }
  }

  @Test func `a second refusal is the answer`() throws {
    let server = ScriptedHTTPServer { _, _ in Self.unknown }
    let client = try server.client { $0.persistedOperations = PersistedOperationPolicy() }
    let error = try server.executor.failure { _ = try await client.query("{ n }") }
    #expect(error?.code == .operationFailed)
    #expect(error?.message == "PersistedQueryNotFound")
    #expect(server.requests.count == 2)
  }

  @Test func `a server that does not support it gets documents for the rest of the transport's life`() throws {
    let server = ScriptedHTTPServer { _, request in
      request.body["extensions"] == nil
        ? Self.fine
        : .json(#"{"errors":[{"message":"PersistedQueryNotSupported"}]}"#, status: 400)
    }
    let client = try server.client { $0.persistedOperations = PersistedOperationPolicy() }
    try server.executor.run {
      for document in ["{ n }", "{ n }", "{ m }"] { _ = try await client.query(document) }
    }
    #expect(server.requests.map { $0.body["query"]?.string ?? "-" } == ["-", "{ n }", "{ n }", "{ m }"])
  }

  @Test func `an error of another kind is not answered with the document`() throws {
    let server = ScriptedHTTPServer { _, _ in .json(#"{"errors":[{"message":"no"}]}"#, status: 400) }
    let client = try server.client { $0.persistedOperations = PersistedOperationPolicy() }
    #expect(try server.executor.failure { _ = try await client.query("{ n }") }?.message == "no")
    #expect(server.requests.count == 1)
  }

  @Test func `queries go by GET when that is set, documents and mutations by POST, as does what is too long`() throws {
    let server = ScriptedHTTPServer { number, _ in number == 1 ? Self.unknown : Self.fine }
    let client = try server.client { $0.persistedOperations = PersistedOperationPolicy(queriesByGET: true) }
    try server.executor.run {
      for _ in 0..<2 { _ = try await client.query("query Q($a: Int) { n }", variables: ["a": 1], operationName: "Q") }
      _ = try await client.mutate("mutation { n }")
      let long = String(repeating: "x", count: 5_000)
      _ = try await client.query("query Q($a: Int) { n }", variables: ["a": .string(long)], operationName: "Q")
    }
    let lines = server.requests.compactMap { $0.head.split(separator: "\r\n").first.map { String($0.prefix(32)) } }
    #expect(
      lines == [
        "GET /graphql?v=1&operationName=Q", "POST /graphql?v=1 HTTP/1.1", "GET /graphql?v=1&operationName=Q",
        "POST /graphql?v=1 HTTP/1.1", "POST /graphql?v=1 HTTP/1.1",
      ])
    let first = try #require(server.requests.first)
    #expect(first.head.contains("&variables=%7B%22a%22%3A1%7D&extensions=%7B%22persistedQuery%22%3A%7B"))
    #expect(first.has("GraphQL-Require-Preflight: 1"))
    #expect(!first.head.contains("Content-Type") && !first.head.contains("Content-Length"))
    #expect(server.requests[1].body["query"] == "query Q($a: Int) { n }")
  }

  @Test func `mutations keep their documents when that is set`() throws {
    let server = ScriptedHTTPServer { _, _ in Self.fine }
    let client = try server.client { $0.persistedOperations = PersistedOperationPolicy(mutations: false) }
    try server.executor.run { _ = try await client.mutate("mutation { n }") }
    #expect(server.requests.first?.body == ["query": "mutation { n }"])
  }
}
