import Foundation
import Martlet
import MartletRuntime
import MartletSimulation
import Synchronization
import Testing

/// Answers in parts (`@defer`, `@stream`) against a scripted peer.
@Suite struct PartsTests {
  private static let document = "query Hero { hero { id ... @defer { name } } }"

  struct Hero: Codable, Sendable, Hashable {
    var id: String
    var name: String?
  }
  struct HeroQuery: GraphQLQuery {
    static let operationName = "Hero"
    static let operationDocument = PartsTests.document
    struct Data: Codable, Hashable, Sendable { var hero: Hero? }
  }
  struct StrictQuery: GraphQLQuery {
    static let operationName = "Hero"
    static let operationDocument = PartsTests.document
    struct Data: Codable, Hashable, Sendable {
      struct Hero: Codable, Hashable, Sendable {
        var id: String
        var name: String
      }
      var hero: Hero
    }
  }

  private static let first =
    #"{"data":{"hero":{"__typename":"Hero","id":"1"}},"pending":[{"id":"0","path":["hero"]}],"hasNext":true}"#
  private static let last =
    #"{"incremental":[{"id":"0","data":{"name":"Luke"}}],"completed":[{"id":"0"}],"hasNext":false}"#
  private static let of2022 = [
    #"{"data":{"hero":{"__typename":"Hero","id":"1"}},"hasNext":true}"#,
    #"{"incremental":[{"path":["hero"],"data":{"name":"Luke"}}],"hasNext":true}"#, #"{"hasNext":false}"#,
  ]

  /// A whole response; each part is a chunk of its own, or the body comes byte by byte.
  private static func response(_ parts: [String], boundary: String = "-", ends: Bool = true, byBytes: Bool = false)
    -> String
  {
    var pieces = ["\r\n--\(boundary)"]
    for part in parts {
      pieces.append("\r\nContent-Type: application/json; charset=utf-8\r\n\r\n\(part)\r\n--\(boundary)")
    }
    if ends { pieces.append("--\r\n") }
    if byBytes { pieces = pieces.joined().utf8.map { String(decoding: [$0], as: UTF8.self) } }
    let body = pieces.map { "\(String($0.utf8.count, radix: 16))\r\n\($0)\r\n" }.joined() + "0\r\n\r\n"
    return
      "HTTP/1.1 200 OK\r\nContent-Type: multipart/mixed; boundary=\"\(boundary)\"\r\nTransfer-Encoding: chunked\r\n\r\n"
      + body
  }

  @Test func `a query answers the whole, in both shapes, whatever the cut and the boundary`() throws {
    let bodies = [
      Self.response([Self.first, Self.last]), Self.response(Self.of2022, boundary: "gc0p4Jq0M2Yt08jU534c0p"),
      Self.response([Self.first, Self.last], byBytes: true), Self.response(Self.of2022, byBytes: true),
      // One payload may say that nothing follows.
      Self.response([#"{"data":{"hero":{"id":"1","name":"Luke"}},"hasNext":false}"#]),
    ]
    for body in bodies {
      let server = ScriptedHTTPServer { number, _ in number == 1 ? .bytes(body) : .json(#"{"data":{"n":1}}"#) }
      let client = try server.client()
      let answer = try server.executor.run { try await client.query(Self.document) }
      #expect(answer.data?["hero"]?["id"] == "1")
      #expect(answer.data?["hero"]?["name"] == "Luke")
      // The connection is kept for the next request, once the response has ended.
      server.executor.run(for: .seconds(1))
      _ = try server.executor.run { try await client.query("{ n }") }
      #expect(server.requests.map(\.connection) == [1, 1])
    }
  }

  @Test func `parts are asked for only where the document has a directive, in the shape that is set`() throws {
    let cases: [(IncrementalDelivery, String, String)] = [
      (
        .both, Self.document,
        "multipart/mixed;incrementalSpec=v0.2, multipart/mixed;deferSpec=20220824;q=0.9, "
          + "application/graphql-response+json;q=0.8, application/json;q=0.7"
      ),
      (
        .current, Self.document,
        "multipart/mixed;incrementalSpec=v0.2, application/graphql-response+json;q=0.8, application/json;q=0.7"
      ),
      (
        .of2022, Self.document,
        "multipart/mixed;deferSpec=20220824, application/graphql-response+json;q=0.8, application/json;q=0.7"
      ),
      (.off, Self.document, "application/graphql-response+json, application/json;q=0.9"),
      (.both, "{ n }", "application/graphql-response+json, application/json;q=0.9"),
    ]
    for (delivery, document, accept) in cases {
      let server = ScriptedHTTPServer { _, _ in .json(#"{"data":{"n":1}}"#) }
      let client = try server.client { $0.incrementalDelivery = delivery }
      #expect(try server.executor.run { try await client.query(document).data } == ["n": 1])
      #expect(server.requests.first?.has("Accept: \(accept)") == true, "\(delivery)")
    }
  }

  @Test func `malformed parts and a response cut short are errors of a type`() throws {
    let broken = Self.response([Self.first, Self.last]).replacingOccurrences(
      of: "boundary=\"-\"", with: "boundary=\"\"")
    let cases: [(String, GraphQLClientError.Code, GraphQLClientError.Code)] = [
      (Self.response([Self.first, "{"]), .protocolViolation, .protocolViolation),
      (Self.response(["nothing"]), .protocolViolation, .protocolViolation),
      (
        Self.response([Self.first, #"{"incremental":[{"id":"7","data":{}}]}"#]), .protocolViolation, .protocolViolation
      ),
      // The closing boundary came too early.
      (Self.response([Self.first]), .protocolViolation, .protocolViolation),
      (Self.response([]), .invalidResponse, .invalidResponse),
      (broken, .protocolViolation, .protocolViolation),
      // It never came.
      (Self.response([Self.first], ends: false), .connectionLost, .outcomeUnknown),
    ]
    for (body, query, mutation) in cases {
      let server = ScriptedHTTPServer { _, _ in .bytes(body) }
      let client = try server.client()
      #expect(try server.executor.failure { _ = try await client.query(Self.document) }?.code == query, "\(body)")
      let document = "mutation { hero { id ... @defer { name } } }"
      #expect(try server.executor.failure { try await client.mutate(document) }?.code == mutation, "\(body)")
      #expect(server.requests.count == 2)
    }
    let whole = Self.response([Self.first, Self.last])
    let half = String(whole.prefix(whole.count - 120))
    let server = ScriptedHTTPServer { _, _ in .cutAfter(half) }
    let client = try server.client()
    #expect(try server.executor.failure { _ = try await client.query(Self.document) }?.code == .connectionLost)
    #expect(
      try server.executor.failure { try await client.mutate("mutation { hero { id ... @defer { name } } }") }?.code
        == .outcomeUnknown)
  }

  @Test func `a request refused as a whole is refused in parts as well, and errors of parts are values`() throws {
    let server = ScriptedHTTPServer { number, _ in
      number == 1
        ? .bytes(Self.response([#"{"errors":[{"message":"no"}],"hasNext":true}"#, #"{"hasNext":false}"#]))
        : .bytes(
          Self.response([
            Self.first, #"{"completed":[{"id":"0","errors":[{"message":"late"}]}],"hasNext":false}"#,
          ]))
    }
    let client = try server.client()
    let refused = try server.executor.failure { _ = try await client.query(Self.document) }
    #expect(refused?.code == .operationFailed)
    #expect(refused?.message == "no")
    let partial = try server.executor.run { try await client.query(Self.document) }
    #expect(partial.data?["hero"]?["id"] == "1")
    #expect(partial.errors.first?["message"] == "late")
  }

  /// Adds what it sees to a log.
  private struct Seeing: Interceptor {
    let name: String
    let log: Recorder<String>
    var refuses = false
    func send(_ request: OperationRequest, next: Next) async throws -> OperationPayload {
      let payload = try await next(request)
      log.add("\(name) \(String(decoding: payload.bytes, as: UTF8.self))")
      return payload
    }
    func received(_ part: OperationPart, of request: OperationRequest) throws {
      log.add("\(name) \(part.number) \(part.hasNext) \(part.result["data"]?["hero"]?["name"]?.string ?? "-")")
      if refuses { throw GraphQLClientError(.invalidResponse, "refused") }
    }
  }

  @Test func `every interceptor sees each part from the inside out, and then the whole`() throws {
    let server = ScriptedHTTPServer { _, _ in .bytes(Self.response([Self.first, Self.last])) }
    let log = Recorder<String>()
    let client = try server.chained([Seeing(name: "outer", log: log), Seeing(name: "inner", log: log)])
    try server.executor.run { _ = try await client.query(Self.document) }
    let whole = #"{"data":{"hero":{"__typename":"Hero","id":"1","name":"Luke"}}}"#
    #expect(
      log.all == [
        "inner 0 true -", "outer 0 true -", "inner 1 false Luke", "outer 1 false Luke", "inner \(whole)",
        "outer \(whole)",
      ])
    let strict = try server.chained([Seeing(name: "", log: log, refuses: true)])
    #expect(try server.executor.failure { _ = try await strict.query(Self.document) }?.message == "refused")
    server.executor.run(for: .seconds(1))
  }

  @Test func `a watcher sees the whole of an answer in parts and asks no second time`() throws {
    let server = ScriptedHTTPServer { _, _ in .bytes(Self.response([Self.first, Self.last])) }
    let client = try server.chained([])
    let names = try server.executor.run {
      var watch = try client.watch(query: HeroQuery()).makeAsyncIterator()
      let first = try await watch.next()?.data?.hero?.name
      try await client.store.withinReadWriteTransaction {
        try $0.setFields(["name": "Leia"], of: CacheKey("Hero:1"))
      }
      return [first, try await watch.next()?.data?.hero?.name]
    }
    #expect(names == ["Luke", "Leia"])
    #expect(server.requests.count == 1)
  }

  @Test func `silence between parts ends at the deadline, which restarts with each`() throws {
    let chunk = Self.response([Self.first], ends: false).replacingOccurrences(of: "0\r\n\r\n", with: "")
    let server = ScriptedHTTPServer { _, _ in .bytes(chunk) }
    let client = try server.client { $0.requestTimeout = .seconds(5) }
    #expect(try server.executor.failure { _ = try await client.query(Self.document) }?.code == .timeout)
    server.executor.run(for: .seconds(1))
    #expect(server.network.links.isEmpty)
  }
}
