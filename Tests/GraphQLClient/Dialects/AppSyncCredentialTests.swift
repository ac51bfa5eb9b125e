import MartletGraphQLClient
import MartletGraphQLWire
import MartletJSON
import MartletTesting
import MartletWire
import Testing

/// AppSync's ways to authorize: each reaches the handshake and every subscription, fresh for every connection.
@Suite struct AppSyncCredentialTests {
  enum Mode: CaseIterable {
    case key, bearer, plainToken, lambda

    func configure(_ configuration: inout ConnectionConfiguration, _ passing: AppSyncConfiguration.Passing) {
      var appSync = AppSyncConfiguration(passing: passing)
      switch self {
      case .key: appSync.authorization = ["x-api-key": "da2-1"]
      case .bearer: configuration.credentials = { .bearer("jwt of \($0)") }
      case .plainToken: configuration.connectingPayload = ["Authorization": "jwt"]
      case .lambda: configuration.credentials = { Credentials(payload: ["Authorization": .string("lambda of \($0)")]) }
      }
      configuration.dialect = .appSync
      configuration.appSync = appSync
    }

    func blob(_ connection: Int) -> JSONObject {
      switch self {
      case .key: ["host": "example.test", "x-api-key": "da2-1"]
      case .bearer:
        ["host": "example.test", "Authorization": .string("Bearer jwt of connecting(attempt: \(connection))")]
      case .plainToken: ["host": "example.test", "Authorization": "jwt"]
      case .lambda: ["host": "example.test", "Authorization": .string("lambda of connecting(attempt: \(connection))")]
      }
    }
  }

  private static let keys = AWSCredentials(
    accessKeyID: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", sessionToken: "T")

  @Test(arguments: [AppSyncConfiguration.Passing.subprotocol, .query])
  func `with IAM keys handshake and starts are signed, on each connection anew`(
    passing: AppSyncConfiguration.Passing
  ) throws {
    let stage = try OlderDialect.appSync.stage {
      $0.appSync = AppSyncConfiguration(passing: passing, region: "eu-west-1")
      $0.credentials = { _ in .iam(Self.keys) }
    }
    stage.server.dialect = .appSync
    let streams = (1...2).map { _ in stage.subscribe() }
    stage.run(.seconds(2))
    stage.onLoop { $0.socket?.cut() }
    stage.run(.seconds(5))
    #expect(stage.server.sockets.count == 2)
    var signatures: Set<String> = []
    for (number, socket) in stage.server.sockets.enumerated() {
      let blob = try #require(try handshake(stage.server.attempts[number], passing))
      #expect(blob["host"] == "example.test" && blob["X-Amz-Security-Token"] == "T")
      let starts = try socket.received.dropFirst().map { try JSONValue(parsing: $0)["payload"] }
      let own = starts.compactMap { $0?["extensions"]?["authorization"]?.object }
      #expect(own.count == 2 && own.allSatisfy { $0["host"] == "example.test" })
      // Equal subscriptions have equal signatures; the handshake is another request.
      for member in [blob, own[0]] { signatures.insert(try #require(member["Authorization"]?.string)) }
      #expect(own[0]["x-amz-date"]?.string?.hasPrefix("20260101T0000") == true)
      #expect(!socket.received.contains { $0.contains(Self.keys.secretAccessKey) })
    }
    #expect(signatures.count == 4)
    for stream in streams { #expect(stream.state.short == "active") }
  }

  @Test func `IAM keys without a region, or in another dialect, fail before anything is sent`() throws {
    for dialect in Dialect.allCases {
      let stage = try Stage {
        $0.dialect = dialect
        $0.credentials = { _ in .iam(Self.keys) }
      }
      let stream = stage.subscribe()
      stage.run(.seconds(60))
      #expect(stream.state.short == "failed(invalidRequest)" && stage.server.attempts.isEmpty)
    }
  }

  @Test func `a signature of IAM is refused before anything is sent`() throws {
    let stage = try OlderDialect.appSync.stage {
      $0.appSync.authorization = ["Authorization": "AWS4-HMAC-SHA256 Credential=x"]
    }
    let stream = stage.subscribe()
    stage.run(.seconds(60))
    #expect(stream.state.short == "failed(invalidRequest)" && stage.server.attempts.isEmpty)
  }

  private func handshake(
    _ attempt: ScriptedServer.Attempt, _ passing: AppSyncConfiguration.Passing
  ) throws -> JSONObject? {
    switch passing {
    case .subprotocol: return try AppSyncRealtime.authorization(query: nil, subprotocols: attempt.subprotocols)
    case .query:
      let query = attempt.target.split(separator: "?").last.map(String.init)
      return try AppSyncRealtime.authorization(query: query, subprotocols: [])
    case .headers:
      var members: JSONObject = ["host": "example.test"]
      for (name, value) in attempt.headers { members[name] = .string(value) }
      return members
    }
  }

  @Test(arguments: Mode.allCases, [AppSyncConfiguration.Passing.subprotocol, .query, .headers])
  func `the authorization is in the handshake and in each start, on each connection anew`(
    mode: Mode, passing: AppSyncConfiguration.Passing
  ) throws {
    let stage = try OlderDialect.appSync.stage { mode.configure(&$0, passing) }
    let streams = (1...2).map { _ in stage.subscribe() }
    stage.run()
    OlderDialect.appSync.confirm(1...2, stage)
    stage.onLoop { $0.socket?.say(#"{"id":"1","type":"data","payload":{"data":{"tick":1}}}"#) }
    stage.onLoop { $0.socket?.cut() }
    stage.run(.seconds(2))
    #expect(stage.server.sockets.count == 2)
    for (number, socket) in stage.server.sockets.enumerated() {
      let blob = mode.blob(number + 1)
      #expect(try handshake(stage.server.attempts[number], passing) == blob)
      #expect(socket.received.first == #"{"type":"connection_init"}"#)
      let starts = try socket.received.dropFirst().map { try JSONValue(parsing: $0) }
      #expect(starts.map { $0["payload"]?["extensions"]?["authorization"]?.object } == [blob, blob])
    }
    for stream in streams { stream.cancel() }
  }
}
