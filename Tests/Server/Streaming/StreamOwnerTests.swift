import MartletJSON
import MartletServer
import MartletWire
import Testing

/// Whose a shared event stream is: it is used with the credentials it was reserved with, or opened by its token alone.
@Suite(.timeLimit(.minutes(1))) struct StreamOwnerTests {
  private static let schema = "type Note @model { id: ID! text: String }"
  private static let path = "/graphql/stream"
  private static let header = "X-GraphQL-Event-Stream-Token"

  private static func reserve(_ credentials: [(String, String)], port: Int) async throws -> String {
    let answer = try await HTTPRequest.send("PUT", path, port: port, headers: credentials, body: "")
    #expect(answer.status == 201)
    return answer.text
  }

  private static func post(
    _ id: String, _ token: String, _ credentials: [(String, String)], port: Int
  ) async throws -> Int {
    try await HTTPRequest.send(
      "POST", path, port: port, headers: [("Content-Type", "application/json"), (header, token)] + credentials,
      body: #"{"query":"{ __typename }","extensions":{"operationId":"\#(id)"}}"#
    ).status
  }

  private static func delete(_ token: String, _ credentials: [(String, String)], port: Int) async throws -> Int {
    try await HTTPRequest.send(
      "DELETE", path + "?operationId=1", port: port, headers: [(header, token)] + credentials
    ).status
  }

  private static func get(_ token: String, _ credentials: [(String, String)], port: Int) async throws -> Int {
    try await HTTPRequest.send(
      "GET", path, port: port, headers: [("Accept", "text/event-stream"), (header, token)] + credentials
    ).status
  }

  /// As a browser does, without any field of one's own.
  private static func open(_ token: String, port: Int) async throws -> StreamedResponse {
    try await StreamedResponse.send(
      HTTPRequestHead(
        method: "GET", target: path + "?token=" + token,
        headers: HTTPHeaders([("Host", "127.0.0.1:\(port)"), ("Accept", "text/event-stream")])), body: nil, port: port)
  }

  @Test func `another key opens nothing, starts nothing and ends nothing`() async throws {
    let log = LogRecorder()
    let access = try Served.access("mine", "other")
    try await Served.with(
      Self.schema,
      {
        $0.access = .keys(access)
        $0.log = log.log
      }
    ) { server in
      let port = server.port
      let (mine, other) = ([("x-api-key", "mine")], [("x-api-key", "other")])
      let token = try await Self.reserve(mine, port: port)
      #expect(try await Self.get(token, other, port: port) == 403)
      #expect(try await Self.post("1", token, other, port: port) == 403)
      #expect(try await Self.delete(token, other, port: port) == 403)
      // Without a key nothing is said of the token at all.
      #expect(try await Self.post("1", token, [], port: port) == 401)
      #expect(try await Self.delete(token, [], port: port) == 401)
      #expect(try await Self.get("nobody", [], port: port) == 401)
      let entries = log.entries.filter { $0.message.contains("reserved with other credentials") }
      #expect(entries.count == 3)
      #expect(try await Metrics.read(server, key: "mine")["martlet_credentials_refused_total"] == 6)
      // The same key in the other field.
      #expect(try await Self.post("1", token, [("Authorization", "Bearer mine")], port: port) == 202)
    }
  }

  @Test func `a token opens its stream where no header can be sent, once, and does nothing else`() async throws {
    let access = try Served.access("mine")
    try await Served.with(Self.schema, { $0.access = .keys(access) }) { server in
      let port = server.port
      let token = try await Self.reserve([("x-api-key", "mine")], port: port)
      let operation = try await HTTPRequest.send(
        "GET", "\(Self.path)?token=\(token)&query=%7B__typename%7D", port: port, headers: [("Accept", "*/*")])
      #expect(operation.status == 401)
      let stream = try await Self.open(token, port: port)
      #expect(await stream.heard { $0 == .heartbeat }.first == .head(status: 200, contentType: "text/event-stream"))
      #expect(try await Self.get(token, [], port: port) == 401)
      #expect(try await Self.get(token, [("x-api-key", "mine")], port: port) == 409)
      #expect(try await Self.post("1", token, [("x-api-key", "mine")], port: port) == 202)
      stream.abort()
    }
  }

  @Test func `a stream belongs to the identity that the program gave, whatever its credentials`() async throws {
    try await Served.with(
      Self.schema,
      {
        $0.onConnect = { request in
          let shown = (request.payload["Authorization"]?.string ?? "").split(separator: " ")
          guard shown.count == 2 else { return .refuse("Not you") }
          return .accept(as: Identity(provider: .function, subject: String(shown[0])))
        }
      }
    ) { server in
      let port = server.port
      func shows(_ text: String) -> [(String, String)] { [("Authorization", text)] }
      let token = try await Self.reserve(shows("ada 1"), port: port)
      #expect(try await Self.get(token, shows("bob 1"), port: port) == 403)
      #expect(try await Self.get(token, shows("nobody"), port: port) == 403)
      let stream = try await Self.open(token, port: port)
      _ = await stream.heard { $0 == .heartbeat }
      #expect(try await Self.post("1", token, shows("ada 1"), port: port) == 202)
      #expect(try await Self.post("2", token, shows("bob 1"), port: port) == 403)
      #expect(try await Self.post("3", token, shows("ada 2"), port: port) == 202)
      #expect(try await Self.delete(token, shows("bob 2"), port: port) == 403)
      stream.abort()
    }
  }
}
