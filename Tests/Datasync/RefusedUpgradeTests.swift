import MartletDatasync
import MartletGraphQLClient
import MartletRuntime
import MartletSimulation
import MartletVocabulary
import Testing

/// A server, or a proxy before it, that answers the tree's upgrade with an HTTP status.
@Suite struct RefusedUpgradeTests {
  /// Answers each upgrade with one status and notes when.
  private struct Refusals: MessageSocketConnector {
    let status: Int
    let retryAfter: String?
    let attempts = Lock<[Instant]>([])

    func open(
      _ request: MessageSocketRequest, on loop: any Loop, handler: any MessageSocketHandler,
      completion: @escaping (Result<Opened, MessageSocketFailure>) -> Void
    ) -> ConnectAttempt {
      attempts.withLock { $0.append(loop.now) }
      let timer = loop.schedule(at: loop.now) {
        completion(.failure(MessageSocketFailure("refused", status: status, retryAfter: retryAfter)))
      }
      return ConnectAttempt { timer.cancel() }
    }
  }

  /// The attempts of a minute, and the service's state after it.
  private static func minute(
    _ status: Int, retryAfter: String? = nil
  ) throws -> (attempts: [Instant], state: DatasyncState) {
    let executor = SimulatedExecutor(seed: 1)
    let refusals = Refusals(status: status, retryAfter: retryAfter)
    let environment = ClientEnvironment(
      loop: executor.makeLoop(), sockets: refusals, http: nil, requests: .socket, spawner: executor.spawner, seed: 1)
    var configuration = DatasyncConfiguration(url: "ws://tree.example/rooms")
    configuration.connection.reconnect.firstDelay = .seconds(1)
    configuration.connection.reconnect.longestDelay = .seconds(1)
    configuration.connection.reconnect.attempts = nil
    let application = MartletApplication(configuration: configuration, environment: environment)
    let service = application.datasyncService
    _ = try service.createManager().nodeThrows(for: "/open").set(1)
    executor.run(for: .seconds(60))
    return (refusals.attempts.withLock { $0 }, service.state)
  }

  @Test func `the pause that Retry-After asks for is kept`() throws {
    let (attempts, state) = try Self.minute(503, retryAfter: "20")
    let wanted: [Duration] = [.zero, .seconds(20), .seconds(40)]
    #expect(attempts.prefix(3).map { $0 - .zero } == wanted)
    #expect(state == .connecting)
  }

  @Test(arguments: [404, 400, 410, 501]) func `a status that no attempt changes is reported at once, with the URL`(
    status: Int
  ) throws {
    let (attempts, state) = try Self.minute(status)
    #expect(attempts.count == 1)
    #expect(
      state == .failed(reason: "ws://tree.example/rooms answered the WebSocket upgrade with HTTP status \(status)"))
  }

  @Test(arguments: [408, 425, 429, 502]) func `a status that passes is tried again`(status: Int) throws {
    let (attempts, state) = try Self.minute(status)
    #expect(attempts.count > 20)
    #expect(state == .connecting)
  }
}
