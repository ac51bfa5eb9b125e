import MartletGraphQLClient
import MartletGraphQLWire
import MartletJSON
import MartletRuntime
import MartletSimulation
import MartletTesting
import MartletVocabulary
import Testing

/// Credentials that change, fail, hang and recover; refusals at the door; and what happens to writes meanwhile.
@Suite struct CredentialTests {
  /// A provider whose answers a test changes. Touched inside the pump and between runs.
  private final class Provider: @unchecked Sendable {
    enum Answer { case token(String), fails, hangs }
    var answer = Answer.token("one")
    private(set) var reasons: [CredentialReason] = []

    func ask(_ reason: CredentialReason) async throws -> Credentials {
      reasons.append(reason)
      switch answer {
      case .token(let token): return .bearer(token)
      case .fails: throw GraphQLClientError(.unauthorized, "the vault is closed")
      case .hangs:
        let (stream, _) = AsyncStream.makeStream(of: Void.self)
        for await _ in stream {}
        throw CancellationError()
      }
    }
  }

  private func stage(
    _ provider: Provider, _ configure: (inout ConnectionConfiguration) -> Void = { _ in }
  ) throws -> Stage {
    try Stage {
      $0.credentials = { try await provider.ask($0) }
      configure(&$0)
    }
  }

  private func count(_ text: String, _ stage: Stage) -> Int {
    stage.server.sockets.map(\.received).joined().filter { $0.contains(text) }.count
  }

  @Test func `a mutation in flight during a change of credentials is never sent again`() throws {
    let provider = Provider()
    let stage = try stage(provider)
    let stream = stage.subscribe()
    let (server, loop, connection) = (stage.server, stage.loop, stage.connection)
    let seen = try stage.executor.run {
      loop.schedule(later: .milliseconds(5)) {
        provider.answer = .token("two")
        server.socket?.close(4403, reason: "expired")
      }
      do {
        _ = try await connection.perform(RequestPayload(query: "mutation { pay }"), .mutation)
        return "answered"
      } catch let error as GraphQLClientError { return error.code.description }
    }
    #expect(seen == "outcomeUnknown")
    stage.run(.seconds(60))
    #expect(provider.reasons == [.connecting(attempt: 1), .refused(code: 4403)])
    #expect(stage.server.sockets.count == 2)
    #expect(stage.server.sockets[1].received.first?.contains("Bearer two") == true)
    #expect(count("mutation { pay }", stage) == 1)
    #expect(count("subscription { tick }", stage) == 2)
    #expect(stream.state.short == "active")
  }

  @Test func `a mutation that waits for the acknowledgement is sent once, on the socket that got one`() throws {
    let provider = Provider()
    let stage = try stage(provider)
    stage.server.acknowledgement = nil
    let (server, loop, connection) = (stage.server, stage.loop, stage.connection)
    let payload = try stage.executor.run {
      loop.schedule(later: .milliseconds(5)) {
        server.acknowledgement = [:]
        server.socket?.close(4403)
      }
      loop.schedule(later: .milliseconds(50)) { server.socket?.next("1", data: ["pay": true]) }
      return try await connection.perform(RequestPayload(query: "mutation { pay }"), .mutation)
    }
    #expect(payload.description == #"{"data":{"pay":true}}"#)
    #expect(count("mutation { pay }", stage) == 1)
    #expect(stage.types(0) == ["connection_init"])
  }

  @Test func `a provider that throws counts as a failed attempt, and recovers`() throws {
    let provider = Provider()
    provider.answer = .fails
    let stage = try stage(provider)
    let stream = stage.subscribe()
    stage.run(.seconds(5))
    #expect(provider.reasons.count > 2)
    #expect(stage.server.attempts.isEmpty)
    #expect(stream.state.short == "pending")
    provider.answer = .token("late")
    stage.run(.seconds(30))
    #expect(stream.state.short == "active")
    #expect(stage.server.attempts.count == 1)
  }

  @Test func `a provider that only throws ends in an error that carries its words`() throws {
    let provider = Provider()
    provider.answer = .fails
    let stage = try stage(provider) { $0.reconnect.attempts = 2 }
    let stream = stage.subscribe()
    stage.run(.seconds(60))
    #expect(stream.state.short == "failed(connectFailed)")
    #expect(stream.state.error?.message.contains("the vault is closed") == true)
    #expect(provider.reasons == [1, 2, 3].map { .connecting(attempt: $0) })
  }

  @Test func `a provider that hangs is left at its deadline, and a later answer of it changes nothing`() throws {
    let provider = Provider()
    provider.answer = .hangs
    let stage = try stage(provider) { $0.credentialTimeout = .seconds(3) }
    let stream = stage.subscribe()
    stage.run(.seconds(2))
    #expect(provider.reasons.count == 1)
    provider.answer = .token("two")
    stage.run(.seconds(3))
    #expect(provider.reasons.count == 2)
    #expect(stream.state.short == "active")
    #expect(stage.server.sockets.count == 1)
  }

  @Test(arguments: [401, 403]) func `a refusal of the upgrade asks once more, then is final`(status: Int) throws {
    let provider = Provider()
    let stage = try stage(provider)
    stage.server.door = .refuses(status: status)
    let stream = stage.subscribe()
    stage.run(.seconds(60))
    #expect(provider.reasons == [.connecting(attempt: 1), .refused(code: status)])
    #expect(stage.server.attempts.count == 2)
    #expect(stream.state.short == "failed(unauthorized)")
    #expect(stream.state.error?.status == status && stream.state.error?.closeCode == nil)
    // The next operation restarts.
    stage.server.door = .open
    let next = stage.subscribe()
    stage.run()
    #expect(next.state.short == "active")
  }

  @Test(arguments: [401, 403]) func `fresh credentials after a refused upgrade bring the subscription in`(
    status: Int
  ) throws {
    let provider = Provider()
    let stage = try stage(provider)
    stage.server.door = .refuses(status: status)
    let server = stage.server
    let stream = stage.subscribe()
    stage.loop.schedule(later: .zero) { server.door = .open }
    stage.run(.seconds(1))
    #expect(stream.state.short == "active")
    #expect(stage.server.attempts.last?.headers.map(\.value) == ["Bearer one"])
  }

  @Test(arguments: [200, 302, 400, 404, 410, 426, 501])
  func `a final status on an upgrade fails at once, with the URL and the status`(status: Int) throws {
    let stage = try Stage()
    stage.server.door = .refuses(status: status)
    let stream = stage.subscribe()
    stage.run(.seconds(60))
    #expect(stage.server.attempts.count == 1)
    #expect(stream.state.short == "failed(httpStatus)")
    #expect(stream.state.error?.status == status)
    let message = stream.state.error?.message ?? ""
    #expect(message == "ws://example.test/graphql answered the WebSocket upgrade with HTTP status \(status)")
  }

  @Test func `the pause that Retry-After asks for is kept on an upgrade`() throws {
    let stage = try Stage()
    stage.server.door = .refuses(status: 503, retryAfter: .seconds(20))
    let stream = stage.subscribe()
    stage.run(.seconds(50))
    #expect(stage.server.attempts.map(\.at) == [.zero, .seconds(20), .seconds(40)])
    stage.server.door = .open
    stage.run(.seconds(20))
    #expect(stream.state.short == "active")
  }

  @Test func `an outage of days ends no subscription with the default settings`() throws {
    let stage = try Stage()
    let stream = stage.subscribe()
    stage.run()
    #expect(stream.state.short == "active")
    stage.server.door = .refuses()
    stage.onLoop { $0.socket?.cut() }
    stage.run(.seconds(3 * 86_400))
    #expect(stream.state.short == "reconnecting")
    #expect(stage.server.attempts.count < 3 * 86_400 / 15)
    stage.server.door = .open
    stage.run(.seconds(31))
    #expect(stream.state.short == "active")
  }

  @Test(arguments: [500, 502, 503, 408, 429]) func `passing answers to the upgrade are tried again`(status: Int) throws
  {
    let stage = try Stage()
    stage.server.door = .refuses(status: status)
    let stream = stage.subscribe()
    stage.run(.seconds(10))
    #expect(stream.state.short == "pending")
    stage.server.door = .open
    stage.run(.seconds(30))
    #expect(stream.state.short == "active")
  }

  @Test(arguments: ["graphql-ws", nil] as [String?]) func `another subprotocol is refused, and the socket dropped`(
    chosen: String?
  ) throws {
    let stage = try Stage()
    stage.server.door = .speaks(chosen)
    let stream = stage.subscribe()
    stage.run(.seconds(60))
    #expect(stage.server.attempts.count == 1)
    #expect(stage.server.attempts[0].subprotocols == ["graphql-transport-ws"])
    #expect(stage.server.sockets[0].isAborted && stage.server.sockets[0].received.isEmpty)
    #expect(stream.state.short == "failed(protocolMismatch)")
    #expect(stream.state.error?.closeCode == 4406)
    #expect(
      stream.state.error?.message
        == "graphql-transport-ws was offered; the server chose the subprotocol \(chosen ?? "none")")
  }
}
