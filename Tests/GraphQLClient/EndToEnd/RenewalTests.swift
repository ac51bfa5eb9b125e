import Foundation
import Martlet
import MartletServer
import Testing

/// Credentials that end while connections are open: others take their place.
@Suite(.timeLimit(.minutes(1))) struct RenewalTests {
  /// What the server was shown, and how long each is good.
  private final class Door: Sendable {
    let shown = Recorder<String>()
    let reasons = Recorder<CredentialReason>()

    /// The first token is about to end when it is shown.
    func answer(_ request: ConnectionRequest) -> ConnectionAnswer {
      let token = request.payload["Authorization"]?.string ?? ""
      if request.transport == .http, token.isEmpty { return .accept() }
      shown.add(token)
      return token == "Bearer 0" ? .accept(validFor: .seconds(1_000)) : .accept(validFor: .seconds(100_000))
    }

    /// Another token for each question, except for the first two of a new connection.
    func credentials(_ reason: CredentialReason, expiresIn: Duration?) -> Credentials {
      reasons.add(reason)
      let number = reasons.all.contains(.expiring) ? 1 : 0
      var credentials = Credentials.bearer("\(number)")
      if number == 0 { credentials.expiresIn = expiresIn }
      return credentials
    }
  }

  private func serve(_ door: Door, _ body: (RealServer) async throws -> Void) async throws {
    let server = try RealServer {
      $0.onConnect = { door.answer($0) }
      $0.limits.session.credentialsWarning = .seconds(2_000)
    }
    defer { server.remove() }
    try await body(server)
    await server.server.stop()
  }

  private func transport(
    _ server: RealServer, _ door: Door, expiresIn: Duration? = nil, _ dialect: Dialect = .graphqlTransportWS
  ) throws -> WebSocketTransport {
    var configuration = WebSocketTransport.configuration
    configuration.dialect = dialect
    configuration.reconnect.firstDelay = .milliseconds(20)
    configuration.credentials = { door.credentials($0, expiresIn: expiresIn) }
    return try WebSocketTransport(url: server.url, configuration: configuration)
  }

  @Test
  func `the server's warning brings other credentials on the open connection, and subscriptions continue untouched`()
    async throws
  {
    let door = Door()
    try await serve(door) { server in
      let transport = try transport(server, door)
      let client = GraphQLClient(networkTransport: transport)
      let events = transport.connectionEvents
      let board = client.subscribe(EndToEndTests.board, variables: ["airport": "VIE"])
      try await board.ready()
      for await event in events {
        if case .disconnected = event { Issue.record("the connection was replaced") }
        if case .pong(let payload) = event, payload?["martlet"]?["credentials"] != nil {
          #expect(payload?["martlet"]?["credentials"] == true)
          break
        }
      }
      #expect(door.reasons.all == [.connecting(attempt: 1), .expiring])
      #expect(door.shown.all == ["Bearer 0", "Bearer 1"])
      try await server.client().depart("VIE", 7)
      for try await event in board {
        #expect(event.data?["onCreateDeparture"]?["minutes"] == 7)
        break
      }
      board.cancel()
    }
  }

  @Test(arguments: [Dialect.graphqlWS])
  func `where the dialect cannot take them, the connection is replaced before the credentials end`(
    dialect: Dialect
  ) async throws {
    let door = Door()
    try await serve(door) { server in
      let transport = try transport(server, door, expiresIn: .milliseconds(100), dialect)
      let client = GraphQLClient(networkTransport: transport)
      let events = transport.connectionEvents
      let board = client.subscribe(EndToEndTests.board, variables: ["airport": "VIE"])
      try await board.ready()
      for await event in events { if case .reconnected = event { break } }
      #expect(door.reasons.all == [.connecting(attempt: 1), .expiring, .connecting(attempt: 1)])
      #expect(door.shown.all == ["Bearer 0", "Bearer 1"])
      board.cancel()
    }
  }

  @Test func `updateConnectingPayload shows its credentials on the open connection`() async throws {
    let door = Door()
    try await serve(door) { server in
      var configuration = WebSocketTransport.configuration
      configuration.connectingPayload = ["Authorization": "Bearer 0"]
      let transport = try WebSocketTransport(url: server.url, configuration: configuration)
      let client = GraphQLClient(networkTransport: transport)
      let events = transport.connectionEvents
      let board = client.subscribe(EndToEndTests.board, variables: ["airport": "VIE"])
      try await board.ready()
      transport.updateConnectingPayload(["Authorization": "Bearer 1"])
      for await event in events {
        if case .disconnected = event { Issue.record("the connection was replaced") }
        if case .pong(let payload) = event, payload?["martlet"]?["credentials"] == true { break }
      }
      #expect(door.shown.all == ["Bearer 0", "Bearer 1"])
      board.cancel()
    }
  }
}
