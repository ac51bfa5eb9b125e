import MartletJSON
import MartletServer
import MartletSockets
import Testing

@testable import MartletGraphQLClientWire
@testable import MartletGraphQLWire

/// Documents named by their hash, over real sockets.
@Suite(.timeLimit(.minutes(1))) struct PersistedOperationServerTests {
  private static let schema = "type Note @model { id: ID! text: String }"
  private static let document = "query Known { __typename }"

  private static func reference(_ document: String) -> JSONValue {
    PersistedOperation(hash: Digest.sha256(Array(document.utf8))).extensionMember
  }

  private func post(_ members: JSONObject, port: Int) async throws -> HTTPRequest.Answer {
    try await HTTPRequest.send(
      "POST", "/graphql", port: port,
      headers: [("Content-Type", "application/json"), ("Accept", "application/graphql-response+json")],
      body: String(decoding: JSONValue.object(members).serialized(), as: UTF8.self))
  }

  @Test func `an unknown hash is asked for once, then known on every loop, by POST, GET and WebSocket`() async throws {
    try await Served.with(Self.schema, { $0.loops = 2 }) { server in
      let port = server.port
      let named: JSONObject = ["extensions": ["persistedQuery": Self.reference(Self.document)]]
      let unknown = try await post(named, port: port)
      // Some clients read nothing but 2xx, and would never send the document.
      #expect(unknown.status == 200)
      #expect(unknown.json["errors"]?[0]?["message"] == "PersistedQueryNotFound")
      #expect(unknown.json["errors"]?[0]?["extensions"]?["code"] == "PERSISTED_QUERY_NOT_FOUND")
      #expect(unknown.json["data"] == nil)
      var both = named
      both["query"] = .string(Self.document)
      #expect(try await post(both, port: port).json["data"]?["__typename"] == "Query")
      for _ in 0..<4 { #expect(try await post(named, port: port).json["data"]?["__typename"] == "Query") }
      let hash = PersistedOperation(hash: Digest.sha256(Array(Self.document.utf8))).hexadecimal
      let query = "extensions=%7B%22persistedQuery%22:%7B%22version%22:1,%22sha256Hash%22:%22\(hash)%22%7D%7D"
      let got = try await HTTPRequest.send("GET", "/graphql?\(query)", port: port)
      #expect(got.status == 200 && got.json["data"]?["__typename"] == "Query")
      let socket = try await RawSocket.session(port: port)
      let subscribe: JSONValue = ["id": "1", "type": "subscribe", "payload": .object(named)]
      socket.send(String(decoding: subscribe.serialized(), as: UTF8.self))
      #expect(try await socket.message("next")["payload"]?["data"]?["__typename"] == "Query")
      socket.abort()
    }
  }

  @Test
  func `to a client that takes JSON only, an unknown hash is a result, which no cache keeps, and a wrong one is 400`()
    async throws
  {
    try await Served.with(Self.schema) { server in
      let hash = PersistedOperation(hash: Digest.sha256(Array(Self.document.utf8))).hexadecimal
      func get(_ version: String, _ hash: String, _ query: String = "") async throws -> HTTPRequest.Answer {
        let member = "%7B%22persistedQuery%22:%7B\(version)%22sha256Hash%22:%22\(hash)%22%7D%7D"
        return try await HTTPRequest.send("GET", "/graphql?\(query)extensions=\(member)", port: server.port)
      }
      let unknown = try await get("%22version%22:1,", hash)
      #expect(unknown.status == 200 && unknown.json["errors"]?[0]?["message"] == "PersistedQueryNotFound")
      #expect(unknown.head.contains("\r\nCache-Control: private, no-cache, must-revalidate"))
      for (version, hash) in [("", hash), ("%22version%22:2,", hash), ("%22version%22:1,", String(hash.prefix(5)))] {
        let wrong = try await get(version, hash, "query=%7B__typename%7D&")
        #expect(wrong.status == 400 && wrong.json["errors"]?.array?.count == 1 && wrong.json["data"] == nil)
        #expect(wrong.head.contains("\r\nContent-Type: application/json"))
      }
    }
  }

  @Test func `a hash that is not the document's is refused, logged once and not kept`() async throws {
    let log = LogRecorder()
    try await Served.with(Self.schema, { $0.log = log.log }) { server in
      let other = Self.reference("{ other }")
      let wrong = try await post(
        ["query": .string(Self.document), "extensions": ["persistedQuery": other]], port: server.port)
      #expect(wrong.status == 400)
      #expect(wrong.json["errors"]?[0]?["extensions"]?["code"] == "PERSISTED_QUERY_HASH_MISMATCH")
      #expect(log.count(of: LogRecorder.violation) == 1)
      let named = try await post(["extensions": ["persistedQuery": other]], port: server.port)
      #expect(named.json["errors"]?[0]?["message"] == "PersistedQueryNotFound")
      #expect(log.count(of: LogRecorder.violation) == 1)
      let malformed = try await post(
        ["extensions": ["persistedQuery": ["version": 1, "sha256Hash": "xyz"]]], port: server.port)
      #expect(malformed.status == 400 && malformed.json["errors"]?[0]?["extensions"]?["code"] == "BAD_USER_INPUT")
      let metrics = try await HTTPRequest.send("GET", "/metrics", port: server.port)
      #expect(metrics.text.contains("protocol_errors_total 2\n"))
    }
  }

  @Test func `the older graphql-ws names documents by hash too, and unknown ones are ordinary errors`()
    async throws
  {
    let talk = Talk(dialect: .graphqlWS)
    try await Served.with(Self.schema) { server in
      let socket = try await talk.acknowledged(server.port)
      let extensions: JSONObject = ["persistedQuery": Self.reference(Self.document)]
      func start(_ id: String, _ query: String?) -> String {
        var payload: JSONObject = ["extensions": .object(extensions)]
        if let query { payload["query"] = .string(query) }
        let message: JSONValue = ["id": .string(id), "type": "start", "payload": .object(payload)]
        return String(decoding: message.serialized(), as: UTF8.self)
      }
      socket.send(start("1", nil))
      let unknown = try await socket.message()
      #expect(unknown["type"] == "error" && unknown["payload"]?["message"] == "PersistedQueryNotFound")
      #expect(unknown["payload"]?["extensions"]?["code"] == "PERSISTED_QUERY_NOT_FOUND")
      socket.send(start("2", Self.document), start("3", nil))
      for id in ["2", "3"] {
        let data = try await socket.message("data")
        #expect(data["id"]?.string == id && data["payload"]?["data"]?["__typename"] == "Query")
      }
      // Not to know a document breaks no rule.
      #expect(try await Metrics.read(server)["martlet_protocol_errors_total"] == 0)
      socket.abort()
    }
  }

  @Test(arguments: [
    #"{"version":2,"sha256Hash":"HASH"}"#, #"{"version":1,"sha256Hash":"HASHHASH"}"#, #"{"version":1}"#, "[]", "1",
  ])
  func `a reference that is none is refused and counted`(reference: String) async throws {
    let hash = PersistedOperation(hash: Digest.sha256(Array(Self.document.utf8))).hexadecimal
    let text = reference.split(separator: "HASH", omittingEmptySubsequences: false).joined(separator: hash)
    let member = try JSONValue(parsing: Array(text.utf8))
    try await Served.with(Self.schema) { server in
      let answer = try await post(
        ["query": .string(Self.document), "extensions": ["persistedQuery": member]], port: server.port)
      #expect(answer.status == 400 && answer.json["data"] == nil, "\(answer.text)")
      #expect(answer.json["errors"]?[0]?["extensions"]?["code"] == "BAD_USER_INPUT", "\(answer.text)")
      #expect(try await Metrics.read(server)["martlet_protocol_errors_total"] == 1)
    }
  }

  @Test func `a server that keeps none says so`() async throws {
    try await Served.with(Self.schema, { $0.limits.query.persistedOperations = 0 }) { server in
      let answer = try await post(
        ["extensions": ["persistedQuery": Self.reference(Self.document)]], port: server.port)
      #expect(answer.json["errors"]?[0]?["message"] == "PersistedQueryNotSupported")
    }
  }
}
