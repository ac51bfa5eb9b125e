import MartletGraphQLClient
import MartletJSON
import MartletSimulation
import MartletTesting
import MartletWire
import Testing

/// Refused credentials, close codes and other protocols, in the two older dialects.
@Suite struct DialectRefusalTests {
  /// Counts what it is asked. Touched inside the pump and between runs.
  private final class Provider: @unchecked Sendable {
    private(set) var reasons: [CredentialReason] = []

    func ask(_ reason: CredentialReason) -> Credentials {
      reasons.append(reason)
      return .bearer("token \(reasons.count)")
    }
  }

  private static let unauthorized: [OlderDialect: String] = [
    .graphqlWS: #"{"message":"Unauthorized"}"#,
    .appSync: #"{"errors":[{"errorType":"UnauthorizedException","message":"Unauthorized","errorCode":401}]}"#,
  ]

  private func stage(_ dialect: OlderDialect, _ provider: Provider) throws -> Stage {
    try dialect.stage { $0.credentials = { provider.ask($0) } }
  }

  @Test(arguments: OlderDialect.allCases)
  func `a connection refused by a message asks for credentials once, then fails as unauthorized`(
    dialect: OlderDialect
  ) throws {
    let provider = Provider()
    let stage = try stage(dialect, provider)
    stage.server.acknowledgement = nil
    let streams = (1...3).map { _ in stage.subscribe() }
    stage.run()
    let payload = try #require(Self.unauthorized[dialect])
    for attempt in 1...2 {
      #expect(stage.server.sockets.count == attempt)
      stage.onLoop { $0.socket?.say(#"{"type":"connection_error","payload":\#(payload)}"#) }
    }
    #expect(provider.reasons == [.connecting(attempt: 1), .refused(code: 4403)])
    for stream in streams {
      #expect(stream.state.short == "failed(unauthorized)")
      #expect(stream.state.error?.message == "Unauthorized" && stream.state.error?.errors.count == 1)
    }
    stage.run(.seconds(600))
    #expect(stage.server.attempts.count == 2)
  }

  @Test(arguments: OlderDialect.allCases) func `fresh credentials bring a refused connection back`(
    dialect: OlderDialect
  ) throws {
    let provider = Provider()
    let stage = try stage(dialect, provider)
    stage.server.acknowledgement = nil
    let stream = stage.subscribe()
    stage.run()
    let payload = try #require(Self.unauthorized[dialect])
    stage.server.acknowledgement = dialect.acknowledgement
    stage.onLoop { $0.socket?.say(#"{"type":"connection_error","payload":\#(payload)}"#) }
    dialect.confirm(1...1, stage)
    #expect(stream.state.short == "active" && stage.server.sockets.count == 2)
  }

  @Test(arguments: OlderDialect.allCases)
  func `an operation refused for its credentials gets one refresh, then fails alone`(dialect: OlderDialect) throws {
    let provider = Provider()
    let stage = try stage(dialect, provider)
    let streams = (1...2).map { _ in stage.subscribe() }
    stage.run()
    dialect.confirm(2...2, stage)
    let payload = try #require(Self.unauthorized[dialect])
    stage.onLoop { $0.socket?.say(#"{"id":"1","type":"error","payload":\#(payload)}"#) }
    #expect(provider.reasons == [.connecting(attempt: 1), .refused(code: 4403)])
    #expect(stage.types(1) == ["connection_init", "start", "start"])
    dialect.confirm(2...2, stage)
    stage.onLoop { $0.socket?.say(#"{"id":"1","type":"error","payload":\#(payload)}"#) }
    #expect(streams[0].state.short == "failed(unauthorized)" && streams[1].state.short == "active")
    stage.run(.seconds(60))
    #expect(stage.server.sockets.count == 2 && provider.reasons.count == 2)
    #expect(stage.types(1).contains("stop") == false)
  }

  @Test(arguments: OlderDialect.allCases) func `without a provider there is nothing to refresh`(dialect: OlderDialect)
    throws
  {
    let stage = try dialect.stage()
    let stream = stage.subscribe()
    stage.run()
    let payload = try #require(Self.unauthorized[dialect])
    stage.onLoop { $0.socket?.say(#"{"id":"1","type":"error","payload":\#(payload)}"#) }
    #expect(stream.state.short == "failed(unauthorized)" && stage.server.sockets.count == 1)
  }

  @Test func `an error of AppSync's connection that is not a refusal is a reason to try again, or to give up`() throws {
    let stage = try OlderDialect.appSync.stage()
    let stream = stage.subscribe()
    stage.run()
    stage.onLoop {
      $0.socket?.say(#"{"type":"error","payload":{"errors":{"errorType":"LimitExceededError","message":"slow"}}}"#)
    }
    #expect(stage.server.sockets.count == 1 && stream.state.short == "pending")
    stage.run(.seconds(2))
    #expect(stage.server.sockets.count == 2)
    stage.onLoop {
      $0.socket?.say(#"{"type":"connection_error","payload":{"errors":[{"errorCode":400,"message":"bad"}]}}"#)
    }
    #expect(stream.state.error?.code == .connectionClosed && stream.state.error?.message == "bad")
    stage.run(.seconds(600))
    #expect(stage.server.sockets.count == 2)
  }

  // MARK: Close codes

  enum Outcome: Equatable { case retried, refreshed, failed(GraphQLClientError.Code) }

  static let table: [(codes: [UInt16], outcome: Outcome)] = [
    ([1000, 1001, 1005, 1006, 1011, 1012, 1013, 1014, 3000, 4100, 4408, 4499, 4504], .retried),
    ([1002, 1003, 1007, 1008, 1009, 1010, 1015, 4005, 4400, 4409, 4429, 4500], .failed(.connectionClosed)),
    ([4406], .failed(.protocolMismatch)), ([4004], .failed(.protocolViolation)), ([4401, 4403], .refreshed),
  ]
  static let cells = table.flatMap { row in row.codes.map { ($0, row.outcome) } }

  @Test(arguments: OlderDialect.allCases, cells)
  func `every close code, before the acknowledgement, after it and under three subscriptions`(
    dialect: OlderDialect, cell: (code: UInt16, outcome: Outcome)
  ) throws {
    for (count, isAcknowledged) in [(1, false), (1, true), (3, true)] {
      let stage = try dialect.stage()
      if !isAcknowledged { stage.server.acknowledgement = nil }
      let streams = (1...count).map { _ in stage.subscribe() }
      stage.run()
      if isAcknowledged { dialect.confirm(1...count, stage) }
      let close = WebSocketCloseCode(rawValue: cell.code)
      stage.onLoop { $0.socket?.end(close, "because") }
      switch cell.outcome {
      case .retried:
        for stream in streams { #expect(stream.state.short == (isAcknowledged ? "reconnecting" : "pending")) }
        stage.server.acknowledgement = dialect.acknowledgement
        stage.run(.seconds(2))
        dialect.confirm(1...count, stage)
        #expect(stage.server.sockets.count == 2)
        for stream in streams { #expect(stream.state.short == "active") }
      case .refreshed:
        #expect(stage.server.sockets.count == 2)
        stage.onLoop { $0.socket?.end(close, "again") }
        for stream in streams {
          #expect(stream.state.short == "failed(unauthorized)" && stream.state.error?.closeCode == Int(cell.code))
        }
      case .failed(let code):
        for stream in streams {
          #expect(stream.state.error?.code == code && stream.state.error?.closeCode == Int(cell.code))
          #expect(stream.state.error?.message.hasSuffix("because") == true)
        }
        stage.run(.seconds(600))
        #expect(stage.server.attempts.count == 1)
      }
    }
  }

  // MARK: Other protocols

  @Test(arguments: OlderDialect.allCases, ["graphql-transport-ws", nil] as [String?])
  func `a server that chooses another subprotocol is named with what was offered`(
    dialect: OlderDialect, chosen: String?
  ) throws {
    let stage = try dialect.stage()
    stage.server.door = .speaks(chosen)
    let stream = stage.subscribe()
    stage.run(.seconds(10))
    let name = dialect == .graphqlWS ? "graphql-ws" : "AppSync's graphql-ws"
    #expect(stream.state.error?.code == .protocolMismatch)
    #expect(
      stream.state.error?.message == "\(name) was offered; the server chose the subprotocol \(chosen ?? "none")")
    #expect(stage.server.attempts.count == 1 && stage.server.sockets[0].isAborted)
  }

  @Test(arguments: [
    (Dialect.graphqlTransportWS, #"{"type":"ka"}"#, "graphql-transport-ws", "graphql-ws"),
    (.graphqlWS, #"{"type":"ping"}"#, "graphql-ws", "graphql-transport-ws"),
    (.graphqlWS, #"{"id":"1","type":"start_ack"}"#, "graphql-ws", "AppSync's graphql-ws"),
    (.appSync, #"{"type":"ping"}"#, "AppSync's graphql-ws", "graphql-transport-ws"),
  ])
  func `a server that only its messages betray is named with what was offered`(
    dialect: Dialect, text: String, offered: String, answered: String
  ) throws {
    let stage = try Stage { $0.dialect = dialect }
    stage.server.door = .speaks(dialect == .graphqlTransportWS ? "graphql-transport-ws" : "graphql-ws")
    if dialect == .appSync { stage.server.acknowledgement = OlderDialect.appSync.acknowledgement }
    let stream = stage.subscribe()
    stage.run()
    stage.onLoop { $0.socket?.say(text) }
    #expect(stream.state.error?.code == .protocolMismatch)
    #expect(stream.state.error?.message == "\(offered) was offered; the server speaks \(answered)")
    stage.run(.seconds(60))
    #expect(stage.server.attempts.count == 1)
  }

  @Test func `AppSync is known by its acknowledgement, the older protocol by what it says to AppSync's start`() throws {
    let graphqlWS = try OlderDialect.graphqlWS.stage()
    graphqlWS.server.acknowledgement = OlderDialect.appSync.acknowledgement
    let stream = graphqlWS.subscribe()
    graphqlWS.run()
    #expect(stream.state.error?.code == .protocolMismatch)
    let appSync = try OlderDialect.appSync.stage()
    appSync.server.acknowledgement = OlderDialect.graphqlWS.acknowledgement
    let other = appSync.subscribe()
    appSync.run()
    #expect(other.state.short == "pending")
    appSync.onLoop { $0.socket?.say(#"{"id":"1","type":"error","payload":{"message":"Must provide a query."}}"#) }
    #expect(other.state.error?.code == .protocolMismatch)
  }
}
