import MartletJSON
import MartletServer
import Testing

/// What the audit log says of the tree.
@Suite(.timeLimit(.minutes(1))) struct TreeAuditTests {
  private static let rules = """
    {"rules": {"rooms": {"$room": {".read": "auth.uid == $room", ".write": "auth.uid == $room"}}}}
    """

  @Test func `what the tree's rules refuse is in the audit log with the rule and the caller, and without the path`()
    async throws
  {
    let recorder = LogRecorder()
    try await Served.with(
      "type Note @model { id: ID! }",
      {
        $0.access = .keys(try Served.access("ada", "bob"))
        $0.treeRules = Self.rules
        $0.audit = recorder.log
      }
    ) { server in
      func refusals() -> [String] {
        var lines: [String] = []
        for entry in recorder.entries where entry.message == "A request was refused by the rules of the tree." {
          let values = entry.metadata.map(\.value)
          #expect(values.allSatisfy { !$0.contains("secretroom") && !$0.contains("value") })
          lines.append(values.filter { $0.hasPrefix("/") || $0 == "ada" || $0 == "bob" }.joined(separator: " "))
        }
        return lines
      }
      let path = "/rooms/secretroom.json"
      let headers = [("x-api-key", "ada")]
      #expect(try await HTTPRequest.send("GET", path, port: server.port, headers: headers).status == 401)
      #expect(
        try await HTTPRequest.send("PUT", path, port: server.port, headers: headers, body: #""value""#).status == 401)
      #expect(
        try await HTTPRequest.send(
          "GET", path, port: server.port, headers: headers + [("Accept", "text/event-stream")]
        ).status == 401)
      #expect(
        refusals() == [
          "/rooms/$room/.read ada", "/rooms/$room/.write ada", "/rooms/$room/.read ada",
        ])
      let bob = try await TreePeer(port: server.port)
      try await bob.ok("auth", ["cred": "bob"])
      for (action, body) in [
        ("g", ["p": "/rooms/secretroom"]), ("q", ["p": "/rooms/secretroom", "h": ""]),
        ("p", ["p": "/rooms/secretroom", "d": "value"]), ("m", ["p": "/rooms/secretroom", "d": ["a": "value"]]),
      ] as [(String, JSONValue)] {
        #expect(try await bob.answer(bob.send(action, body))["s"] == "permission_denied", "\(action)")
      }
      #expect(
        refusals().dropFirst(3) == [
          "/rooms/$room/.read bob", "/rooms/$room/.read bob", "/rooms/$room/.write bob",
          "/rooms/$room/.write bob",
        ])
      bob.socket.abort()
    }
  }
}
