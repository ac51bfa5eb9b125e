import Foundation
import MartletGraphQLWire
import MartletJSON
import MartletRuntime
import MartletServer
import MartletWire
import Testing

/// Reloads of schema, rules, keys and origins while writes are under way: what stays allowed loses and repeats nothing.
@Suite(.timeLimit(.minutes(2))) struct ReloadUnderLoadTests {
  private static let writes = 120
  private static let query = "subscription { onCreateNote { text } }"

  private static func schema(_ fields: String, _ rules: String = "") -> String {
    "type Note @model @auth(rules: [{allow: public, provider: apiKey}\(rules)]) { id: ID! text: String \(fields) }"
  }

  /// A schema with another field and other rules, or another access file; each leaves the subscriptions as they are.
  private static func reload(_ server: GraphQLServer, _ step: Int) async throws {
    switch step % 3 {
    case 0:
      let fields = (0...step).map { "extra\($0): Int" }.joined(separator: " ")
      try await server.reload(
        schema: schema(fields, ", {allow: private, operations: [\(step % 2 == 0 ? "read" : "get")]}"))
    case 1: try server.reload(access: try Served.access("stays", "new\(step)", origins: #"["https://one.example"]"#))
    default: try server.reload(access: try Served.access("other\(step)", "stays"))
    }
  }

  /// Writes all the time, and reloads in between.
  private static func load(_ server: GraphQLServer) async throws {
    async let writing: Void = {
      for number in 0..<writes {
        let answer = try await HTTPRequest.graphql(
          "mutation { createNote(input: {text: \"\(number)\"}) { id } }", port: server.port,
          headers: [("x-api-key", "stays")])
        #expect(answer.json["data"]?["createNote"]?["id"] != nil, "\(answer.text)")
      }
    }()
    for step in 0..<12 { try await reload(server, step) }
    try await writing
    for step in 12..<18 { try await reload(server, step) }
  }

  private static func with(_ body: (GraphQLServer) async throws -> Void) async throws {
    try await Served.with(
      schema(""),
      {
        $0.access = .keys(try Served.access("old", "stays"))
        $0.loops = 2
      }, body)
  }

  @Test(arguments: Talk.all) func `P8: a socket loses and repeats nothing through reloads, in every dialect`(talk: Talk)
    async throws
  {
    try await Self.with { server in
      let key: JSONObject = ["x-api-key": "stays"]
      let socket = try await talk.open(server.port, authorization: key)
      socket.send(talk.initialise(key))
      _ = try await socket.message(talk.dialect == .graphqlTransportWS ? "connection_ack" : "ka")
      socket.send(
        talk.start("1", Self.query, extensions: talk.dialect == .appSync ? ["authorization": .object(key)] : [:]))
      switch talk.dialect {
      case .graphqlTransportWS: _ = try await socket.message("ready")
      case .appSync: _ = try await socket.message("start_ack")
      case .graphqlWS:
        socket.send(talk.initialise())
        _ = try await socket.message("connection_ack")
      }
      try await Self.load(server)
      var seen: [String] = []
      while seen.count < Self.writes {
        let event = try await socket.message(talk.event)
        let data = event["payload"]?["data"]?["onCreateNote"]
        seen.append(data?["text"]?.string ?? "\(event)")
      }
      #expect(seen == (0..<Self.writes).map(String.init))
      socket.abort()
    }
  }

  @Test(arguments: StreamedSubscriptionTests.forms, [true, false])
  func `P8: a stream over HTTP loses and repeats nothing through reloads`(accept: String, cursors: Bool) async throws {
    try await Self.with { server in
      let stream = try await StreamedResponse.open(
        Self.query, accept: accept, extensions: cursors ? ["martlet": ["cursors": true]] : [:],
        headers: [("x-api-key", "stays")], port: server.port)
      #expect(await stream.heard { $0 == .heartbeat }.last == .heartbeat)
      try await Self.load(server)
      var seen: [String] = []
      while seen.count < Self.writes {
        let heard = await stream.heard { if case .heartbeat = $0 { false } else { true } }
        guard case .result(let result)? = heard.last else {
          Issue.record("\(String(describing: heard.last))")
          break
        }
        guard let data = result["data"] else {
          switch ResultContinuity(result.serialized()) {
          case .ready?, .position?: continue
          default: Issue.record("\(result)")
          }
          break
        }
        seen.append(data["onCreateNote"]?["text"]?.string ?? "\(result)")
      }
      #expect(seen == (0..<Self.writes).map(String.init))
      stream.abort()
    }
  }

  @Test func `P8: an event stream that operations share loses and repeats nothing through reloads`() async throws {
    try await Self.with { server in
      let (port, key) = (server.port, ("x-api-key", "stays"))
      let token = try await HTTPRequest.send("PUT", "/graphql/stream", port: port, headers: [key], body: "").text
      let stream = try await StreamedResponse.send(
        HTTPRequestHead(
          method: "GET", target: "/graphql/stream?token=\(token)",
          headers: HTTPHeaders([("Host", "127.0.0.1:\(port)"), ("Accept", "text/event-stream"), key])),
        body: nil, readingEvents: true, port: port)
      #expect(await stream.heard { $0 == .heartbeat }.last == .heartbeat)
      let posted = try await HTTPRequest.send(
        "POST", "/graphql/stream?token=\(token)", port: port, headers: [("Content-Type", "application/json"), key],
        body: #"{"query":"\#(Self.query)","extensions":{"operationId":"1"}}"#)
      #expect(posted.status == 202)
      try await Self.load(server)
      var seen: [String] = []
      while seen.count < Self.writes {
        let heard = await stream.heard { if case .event = $0 { true } else { $0 == .ended } }
        guard case .event(let event)? = heard.last, event.name == "next",
          let result = try? JSONValue(parsing: event.data)
        else {
          Issue.record("\(String(describing: heard.last))")
          break
        }
        seen.append(result["payload"]?["data"]?["onCreateNote"]?["text"]?.string ?? "\(result)")
      }
      #expect(seen == (0..<Self.writes).map(String.init))
      stream.abort()
    }
  }
}
