import MartletGraphQLWire
import MartletJSON
import MartletServer
import MartletSockets
import MartletWire
import Testing

/// Which callers may ask for the schema, at every door.
@Suite(.timeLimit(.minutes(1))) struct IntrospectionAccessTests {
  private static let query = "{ __schema { queryType { name } } }"
  private static let json = [("Content-Type", "application/json")]

  /// A key that may ask, one that may not, and one whose entry says nothing. The key is its name.
  private static func access() throws -> AccessFile {
    let entries = [("open", ",\"introspection\":true"), ("closed", ",\"introspection\":false"), ("plain", "")].map {
      name, more in
      let digest = Digest.sha256(Array(name.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      return #"{"name":"\#(name)","sha256":"\#(digest)"\#(more)}"#
    }
    return try AccessFile(#"{"keys":[\#(entries.joined(separator: ","))]}"#)
  }

  private static func with(_ allowed: Bool?, _ body: (GraphQLServer) async throws -> Void) async throws {
    try await Served.with(
      "type Note @model { id: ID! text: String }",
      {
        $0.access = .keys(try access())
        $0.allowsIntrospection = allowed
      }, body)
  }

  /// Asks for the schema at one door and returns everything that was answered.
  private static func ask(_ door: Door, key: String, port: Int) async throws -> String {
    let header = ("x-api-key", key)
    let request = "{\"query\":\"\(query)\"}"
    switch door {
    case .post:
      return try await HTTPRequest.send("POST", "/graphql", port: port, headers: json + [header], body: request).text
    case .get:
      let target = "/graphql?query=%7B__schema%7BqueryType%7Bname%7D%7D%7D"
      return try await HTTPRequest.send("GET", target, port: port, headers: [header]).text
    case .batch:
      return try await HTTPRequest.send(
        "POST", "/graphql", port: port, headers: json + [header], body: "[\(request),\(request)]"
      ).text
    case .eventStream:
      return try await HTTPRequest.send(
        "POST", "/graphql/stream", port: port, headers: json + [header, ("Accept", "text/event-stream")], body: request
      ).text
    case .parts:
      let deferred = "{\"query\":\"{ ... @defer { __schema { queryType { name } } } }\"}"
      return try await HTTPRequest.send(
        "POST", "/graphql", port: port, headers: json + [header, ("Accept", "multipart/mixed")], body: deferred
      ).text
    case .sharedStream:
      let token = try await HTTPRequest.send("PUT", "/graphql/stream", port: port, headers: [header], body: "").text
      let stream = try await StreamedResponse.send(
        HTTPRequestHead(
          method: "GET", target: "/graphql/stream",
          headers: HTTPHeaders([
            ("Host", "127.0.0.1:\(port)"), ("Accept", "text/event-stream"), ("X-GraphQL-Event-Stream-Token", token),
          ])), body: nil, readingEvents: true, port: port)
      _ = try await HTTPRequest.send(
        "POST", "/graphql/stream", port: port,
        headers: json + [header, ("X-GraphQL-Event-Stream-Token", token)],
        body: "{\"query\":\"\(query)\",\"extensions\":{\"operationId\":\"a\"}}")
      let heard = await stream.heard {
        if case .event(let event) = $0 { event.name == "complete" } else { false }
      }
      return heard.map { if case .event(let event) = $0 { String(decoding: event.data, as: UTF8.self) } else { "" } }
        .joined()
    case .socket:
      let socket = try await RawSocket.open(port: port, headers: [header])
      socket.send(#"{"type":"connection_init"}"#)
      _ = try await socket.message("connection_ack")
      socket.send("{\"id\":\"a\",\"type\":\"subscribe\",\"payload\":\(request)}")
      return "\(try await socket.message("next"))"
    case .graphqlWSSocket:
      let socket = try await RawSocket.open(port: port, subprotocols: ["graphql-ws"])
      socket.send("{\"type\":\"connection_init\",\"payload\":{\"x-api-key\":\"\(key)\"}}")
      _ = try await socket.message("connection_ack")
      socket.send("{\"id\":\"a\",\"type\":\"start\",\"payload\":\(request)}")
      var message = try await socket.message()
      while message["type"] == "ka" { message = try await socket.message() }
      return "\(message)"
    }
  }

  enum Door: CaseIterable {
    case post, get, batch, eventStream, parts, sharedStream, socket, graphqlWSSocket
  }

  @Test(arguments: Door.allCases)
  func `a key's entry decides at every door, and where it says nothing the configuration`(door: Door) async throws {
    for (setting, plain) in [(nil, false), (true, true)] as [(Bool?, Bool)] {
      try await Self.with(setting) { server in
        for (key, allowed) in [("open", true), ("closed", false), ("plain", plain)] {
          let answer = try await Self.ask(door, key: key, port: server.port)
          #expect(answer.contains("queryType") == allowed, "\(key) with \(String(describing: setting)): \(answer)")
          #expect(answer.contains("Introspection is switched off.") == !allowed, "\(key): \(answer)")
        }
      }
    }
  }

  @Test func `a socket ends when its key's right to ask is withdrawn`() async throws {
    try await Self.with(nil) { server in
      let socket = try await RawSocket.open(port: server.port, headers: [("x-api-key", "open")])
      socket.send(#"{"type":"connection_init"}"#)
      _ = try await socket.message("connection_ack")
      try server.reload(access: try Served.access("open"))
      guard case .closed(4403) = await socket.next() else {
        Issue.record("the socket stayed")
        return
      }
    }
  }
}

/// What a misspelt name may have meant is said to callers that may ask for the schema, and to no other.
@Suite(.timeLimit(.minutes(1))) struct HintTests {
  private static let schema = """
    enum Mood { HAPPY SAD }
    type Note @model { id: ID! text: String mood: Mood }
    """

  static let misspelt: [(query: String, variables: JSONObject)] = [
    ("{ listNote { items { id } } }", [:]), ("{ listNotes { items { txet } } }", [:]),
    ("{ getNote(id: \"1\", idd: 1) { id } }", [:]), ("{ listNotes { items } }", [:]),
    ("{ listNotes(filter: {txt: {eq: \"a\"}}) { items { id } } }", [:]),
    ("{ listNotes(filter: {text: {eqq: \"a\"}}) { items { id } } }", [:]),
    ("mutation { createNote(input: {mood: HAPY}) { id } }", [:]),
    ("mutation { createNote(input: {mood: \"HAPPY\"}) { id } }", [:]),
    ("query($id: IDD!) { getNote(id: $id) { id } }", ["id": "1"]),
    ("{ ... on Querry { __typename } }", [:]), ("{ listNotes @skip(iff: true) { items { id } } }", [:]),
    ("subscription { onCreateNotes { id } }", [:]),
    ("mutation { transaction(writes: [{createNot: {}}]) { __typename } }", [:]),
  ]

  @Test(arguments: misspelt.map(\.query)) func `hints are for callers that may ask for the schema`(
    query: String
  ) async throws {
    let access = try AccessFile(
      #"{"keys":[{"name":"open","sha256":"\#(Served.hexadecimal("open"))","introspection":true},"#
        + #"{"name":"plain","sha256":"\#(Served.hexadecimal("plain"))"}]}"#)
    let variables = Self.misspelt.first { $0.query == query }?.variables ?? [:]
    try await Served.with(Self.schema, { $0.access = .keys(access) }) { server in
      for (key, hints) in [("open", true), ("plain", false)] {
        let answer = try await HTTPRequest.graphql(
          query, port: server.port, variables: variables, headers: [("x-api-key", key)])
        #expect(answer.json["errors"]?.array?.isEmpty == false, "\(answer.text)")
        #expect(answer.text.contains("Did you mean") == hints, "\(key): \(answer.text)")
        let socket = try await RawSocket.open(port: server.port, headers: [("x-api-key", key)])
        socket.send(#"{"type":"connection_init"}"#)
        _ = try await socket.message("connection_ack")
        socket.subscribe("1", query, variables: variables)
        let error = try await socket.message("error").serialized()
        #expect(String(decoding: error, as: UTF8.self).contains("Did you mean") == hints)
        socket.abort()
      }
    }
  }

  @Test(arguments: [
    ("{ listNotes(filter: $f) { items { id } } }", #"{"txt":{"eq":"a"}}"#),
    ("{ listNotes(filter: $f) { items { id } } }", #"{"mood":{"eq":"HAPY"}}"#),
  ]) func `values of variables bring no hints to callers that may not ask for the schema`(
    document: String, filter: String
  ) async throws {
    let access = try Served.access("plain")
    try await Served.with(Self.schema, { $0.access = .keys(access) }) { server in
      let answer = try await HTTPRequest.graphql(
        "query($f: ModelNoteFilterInput) \(document)", port: server.port,
        variables: ["f": try JSONValue(parsing: Array(filter.utf8))], headers: [("x-api-key", "plain")])
      #expect(answer.json["errors"]?.array?.isEmpty == false && !answer.text.contains("Did you mean"))
    }
  }
}
