import Foundation
import MartletAccess
import MartletJSON
import MartletServer
import MartletSignatures
import Testing

/// Subscriptions of callers whose tokens have ended.
@Suite(.timeLimit(.minutes(1))) struct OwnerAbsenceTests {
  private static let secret = Array("0123456789abcdef0123456789abcdef".utf8)
  private static let hour = Int(3_600)

  private static func text(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
      .replacingOccurrences(of: "=", with: "")
  }

  /// A token that is good for so many hours.
  private static func token(_ user: String, hours: Int, groups: [String] = []) throws -> String {
    let claims: JSONValue = [
      "iss": "https://own.example", "sub": .string(user), "groups": .array(groups.map { .string($0) }),
      "role": .string(groups.first ?? "none"),
      "exp": .int(Int64(Date().timeIntervalSince1970) + Int64(hours * hour)),
    ]
    let signed = text(Array(#"{"alg":"HS256"}"#.utf8)) + "." + text(claims.serialized())
    return signed + "." + text(try #require(MessageCode.sha256(of: Array(signed.utf8), by: secret)))
  }

  private static func access() throws -> AccessFile {
    try AccessFile(
      """
      {"keys": [{"name": "ops", "sha256": "\(Keys.digests["ops"] ?? "")"}],
       "tokens": [{"issuer": "https://own.example",
                   "keys": {"kty": "oct", "alg": "HS256", "k": "\(text(secret))"}}]}
      """)
  }

  private static func configuration(
    _ receiver: Receiver, _ folder: TemporaryFolder, absence: Duration? = nil
  ) throws -> ServerConfiguration {
    try Served.configuration(receiver, folder) { configuration in
      configuration.access = .keys(try access())
      configuration.channels?.administrators = ["ops"]
      configuration.channels?.webhooks[0].isOpenToCallers = true
      configuration.treeRules = """
        {"rules": {".write": true, "open": {".read": true},
                   "staff": {".read": "auth.token.role == 'staff'"}}}
        """
      if let absence { configuration.limits.channels.ownerAbsence = absence }
    }
  }

  private static func put(_ path: String, _ json: String, _ server: GraphQLServer) async {
    #expect(await Call.send("PUT", path, json, port: server.port, key: "ops").status == 200)
  }

  private static func state(
    _ id: String, _ state: JSONValue, _ server: GraphQLServer
  ) async -> JSONValue {
    while true {
      let status = await Call.send("GET", "/channels/\(id)", port: server.port, key: "ops").json
      if status["state"] == state { return status }
      await Task.yield()
    }
  }

  @Test func `a subscription outlives its owner's token for the limit's time, and continues when the owner comes back`()
    async throws
  {
    let receiver = try Receiver()
    let folder = try TemporaryFolder()
    try await Served.with(Self.configuration(receiver, folder)) { server in
      for user in ["ada", "bob"] {
        try await Served.subscribe(
          #"{"id": "\#(user)", "webhook": "hook", "node": "/open"}"#, server, key: Self.token(user, hours: 1))
      }
      await Self.put("/open.json", "1", server)
      _ = await receiver.requests(2)
      for user in ["ada", "bob"] {
        while await Self.state(user, "active", server)["waiting"] != 0 { await Task.yield() }
      }
    }
    // Two hours before a token's end is now for both.
    try await Served.with(Self.configuration(receiver, folder, absence: .seconds(-2 * Self.hour))) { server in
      for user in ["ada", "bob"] {
        let status = await Self.state(user, "suspended", server)
        #expect(status["reason"] == "its owner has shown no credentials for too long")
      }
      await Self.put("/open.json", "2", server)
      await Self.put("/open.json", "3", server)
      // A token that has ended for as long changes nothing, and one of another caller neither.
      for shown in [try Self.token("ada", hours: 1), try Self.token("eve", hours: 9)] {
        #expect(await Call.send("GET", "/channels", port: server.port, key: shown).status == 200)
      }
      #expect(await Self.state("ada", "suspended", server)["state"] == "suspended")
      let again = try Self.token("ada", hours: 9)
      #expect(await Call.send("GET", "/channels", port: server.port, key: again).status == 200)
      _ = await Self.state("ada", "active", server)
      while receiver.requests.last?.json["value"] != 3 { await Task.yield() }
      #expect(receiver.requests.dropFirst(2).allSatisfy { $0.json["subscription"] == "ada" })
      _ = await Self.state("bob", "suspended", server)
    }
    // What was shown last is kept over a restart.
    try await Served.with(Self.configuration(receiver, folder, absence: .seconds(-2 * Self.hour))) { server in
      _ = await Self.state("ada", "active", server)
      _ = await Self.state("bob", "suspended", server)
    }
  }

  @Test func `what an owner has lost by its newer token ends its subscription, and an older one gives nothing back`()
    async throws
  {
    let receiver = try Receiver()
    try await Served.with(Self.configuration(receiver, TemporaryFolder())) { server in
      let staff = try Self.token("ada", hours: 1, groups: ["staff"])
      try await Served.subscribe(#"{"id": "a", "webhook": "hook", "node": "/staff"}"#, server, key: staff)
      await Self.put("/staff.json", "1", server)
      _ = await receiver.requests(1)
      let other = try Self.token("ada", hours: 2)
      #expect(await Call.send("GET", "/channels", port: server.port, key: other).status == 200)
      let failed = await Self.state("a", "failed", server)
      #expect(failed["reason"]?.string?.contains("rules") == true, "\(failed)")
      #expect(await Call.send("GET", "/channels", port: server.port, key: staff).status == 200)
      await Self.put("/staff.json", "2", server)
      _ = await Self.state("a", "failed", server)
      #expect(receiver.requests.allSatisfy { $0.json["value"] != 2 })
    }
  }

  @Test func `a subscription that was made while a key was good is suspended at the key's end, without a reload`()
    async throws
  {
    let receiver = try Receiver()
    // The key has to be good when the subscription is made, however long that takes.
    var seconds = 1
    while true {
      let end = Int(Date().timeIntervalSince1970) + seconds
      let configuration = try Served.configuration(receiver) { configuration in
        configuration.access = .keys(
          try AccessFile(
            """
            {"keys": [{"name": "ops", "sha256": "\(Keys.digests["ops"] ?? "")"},
             {"name": "ada", "sha256": "\(Keys.digests["ada"] ?? "")", "expires": \(end)}]}
            """))
        configuration.channels?.administrators = ["ops"]
        configuration.channels?.webhooks[0].isOpenToCallers = true
      }
      var isMade = false
      try await Served.with(configuration) { server in
        let answer = await Call.send(
          "POST", "/channels", #"{"id": "a", "webhook": "hook", "node": "/n"}"#, port: server.port, key: "ada")
        isMade = answer.status == 201
        guard isMade else { return }
        #expect(await Self.state("a", "suspended", server)["reason"] == "its owner's key has expired")
      }
      if isMade { return }
      seconds *= 2
    }
  }
}
