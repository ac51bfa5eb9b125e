import Foundation
import Martlet
import MartletTesting
import Testing

/// A piece of an application, as the guide to testing has one.
struct Ticker: Sendable {
  let client: GraphQLClient

  /// What a screen would show, line by line.
  func lines() async -> [String] {
    var lines: [String] = []
    do {
      for try await result in client.subscribe("subscription { tick }") {
        lines.append(result.gap == nil ? "tick \(result.data?["tick"] ?? .null)" : "something is missing")
      }
      lines.append("the end")
    } catch {
      lines.append("failed: \((error as? GraphQLClientError)?.message ?? "\(error)")")
    }
    return lines
  }
}

/// The Swift of the guides "Test" and "Reconnect".
@Suite struct TickerTests {
  @Test func `a lost connection is reported, and the ticks continue`() throws {
    let time = VirtualTime()
    let server = ScriptedServer(time)
    let url = try #require(URL(string: "ws://example.test/graphql"))
    let client = try GraphQLClient(url: url, environment: server.environment)
    let lines = try time.run {
      async let lines = Ticker(client: client).lines()
      let first = try await server.accept()
      let id = try await first.expectOperation().id
      first.next(id, data: ["tick": 1])
      first.cut()
      let second = try await server.accept()
      try await second.expectOperation()
      second.next(id, data: ["tick": 2])
      second.complete(id)
      return await lines
    }
    #expect(lines == ["tick 1", "something is missing", "tick 2", "the end"])
  }

  @Test func `a server that is down for long is given up with its cause`() throws {
    let time = VirtualTime()
    let server = ScriptedServer(time)
    let url = try #require(URL(string: "ws://example.test/graphql"))
    var configuration = ConnectionConfiguration()
    configuration.reconnect.attempts = 20
    let client = try GraphQLClient(url: url, configuration: configuration, environment: server.environment)
    server.door = .refuses(status: 503)
    let lines = try time.run { await Ticker(client: client).lines() }
    #expect(lines == ["failed: ws://example.test/graphql answered the WebSocket upgrade with HTTP status 503"])
    #expect(server.attempts.count == 21)
  }

  @Test func `the same ticks from AppSync`() throws {
    let time = VirtualTime()
    let server = ScriptedServer(time)
    let url = try #require(URL(string: "wss://example.test/graphql"))
    server.dialect = .appSync
    var configuration = ConnectionConfiguration()
    configuration.dialect = .appSync
    configuration.appSync.authorization = ["x-api-key": "da2-0123456789"]
    let client = try GraphQLClient(url: url, configuration: configuration, environment: server.environment)
    let lines = try time.run {
      async let lines = Ticker(client: client).lines()
      let socket = try await server.accept()
      let operation = try await socket.expectOperation()
      #expect(operation.extensions["authorization"]?["x-api-key"] == "da2-0123456789")
      socket.next(operation.id, data: ["tick": 1])
      socket.complete(operation.id)
      return await lines
    }
    #expect(lines == ["tick 1", "the end"])
  }

  private struct Session: Sendable {
    func token(renewed: Bool) async throws -> String { renewed ? "fresh" : "kept" }
    func keys() async throws -> AWSCredentials {
      AWSCredentials(accessKeyID: "AKIDEXAMPLE", secretAccessKey: "secret")
    }
  }

  @Test func `keys of IAM sign what is sent to AppSync`() throws {
    let time = VirtualTime()
    let server = ScriptedServer(time)
    server.dialect = .appSync
    let url = try #require(URL(string: "wss://api.example.test/graphql"))
    let session = Session()
    var configuration = ConnectionConfiguration()
    configuration.dialect = .appSync
    configuration.appSync.region = "eu-west-1"
    configuration.credentials = { _ in .iam(try await session.keys()) }
    let client = try GraphQLClient(url: url, configuration: configuration, environment: server.environment)
    let authorization = try time.run {
      let stream = client.subscribe("subscription { tick }")
      let operation = try await server.accept().expectOperation()
      stream.cancel()
      return operation.extensions["authorization"]?["Authorization"]?.string ?? ""
    }
    #expect(authorization.contains("Credential=AKIDEXAMPLE/20260101/eu-west-1/appsync/aws4_request"))
  }

  @Test func `a refused token is renewed once`() throws {
    let time = VirtualTime()
    let server = ScriptedServer(time)
    let url = try #require(URL(string: "ws://example.test/graphql"))
    let session = Session()
    var configuration = ConnectionConfiguration()
    configuration.reconnect.attempts = nil
    configuration.reconnect.longestDelay = .seconds(10)
    configuration.credentials = { reason in
      .bearer(try await session.token(renewed: reason.isRefusal))
    }
    let client = try GraphQLClient(url: url, configuration: configuration, environment: server.environment)
    server.acknowledgement = nil
    let tokens = try time.run {
      async let lines = Ticker(client: client).lines()
      var tokens: [String?] = []
      for _ in 1...2 {
        let socket = try await server.accept()
        let payload = try await socket.expect("connection_init")["payload"]
        tokens.append(payload?["Authorization"]?.string)
        socket.close(4403, reason: "expired")
      }
      #expect(await lines == ["failed: expired"])
      return tokens
    }
    #expect(tokens == ["Bearer kept", "Bearer fresh"])
  }

  @Test func `a client takes another one's place`() throws {
    let time = VirtualTime()
    let server = ScriptedServer(time)
    let url = try #require(URL(string: "ws://example.test/graphql"))
    let old = try GraphQLClient(url: url, environment: server.environment)
    let new = try GraphQLClient(url: url, environment: server.environment)
    try time.run {
      let stream = old.subscribe("subscription { tick }")
      try await stream.ready()
      let place: Cursor? = nil
      old.shutDown()
      let again = new.subscribe("subscription { tick }", from: SubscriptionStart(after: place))
      try await again.ready()
      #expect("\(stream.state)" == "finished(cancelled)")
    }
  }
}
