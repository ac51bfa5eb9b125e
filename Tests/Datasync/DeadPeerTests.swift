import Martlet
import MartletDatasync
import MartletGraphQLClient
import MartletRuntime
import MartletServer
import MartletWire
import Testing

@Suite(.timeLimit(.minutes(1))) struct DeadPeerTests {
  @Test func `a peer from which nothing comes is noticed, and what waits is sent over another connection`() async throws
  {
    try await TreeServing.with { server in
      var environment = try ClientEnvironment.shared()
      let deaf = DeafSockets(try #require(environment.sockets))
      environment.sockets = deaf
      var configuration = DatasyncConfiguration(url: "ws://127.0.0.1:\(server.port)")
      configuration.connection.reconnect.firstDelay = .milliseconds(1)
      configuration.connection.pingInterval = .milliseconds(100)
      configuration.connection.pongTimeout = .milliseconds(100)
      let application = MartletApplication(configuration: configuration, environment: environment)
      let node = try application.datasyncService.createManager().nodeThrows(for: "/open/x")
      try await node.set(1).acknowledged()
      // From now on nothing that the server sends over this socket arrives, and nothing says so.
      deaf.loseAll()
      try await node.set(DatasyncServerValue.increment(1)).acknowledged()
      #expect(try await node.value(as: Int.self) == 2)
      #expect(deaf.opened > 1)
      application.datasyncService.shutDown()
    }
  }

  @Test func `a client that waits for its next attempt connects at once when it is asked to`()
    async throws
  {
    let port = Lock(0)
    try await TreeServing.with { server in port.withLock { $0 = server.port } }
    var environment = try ClientEnvironment.shared()
    let failures = Transcript()
    environment.sockets = FailureReporter(real: try #require(environment.sockets)) { failures.add("failed") }
    var configuration = DatasyncConfiguration(url: "ws://127.0.0.1:\(port.withLock { $0 })")
    configuration.connection.reconnect.firstDelay = .seconds(3_600)
    let application = MartletApplication(configuration: configuration, environment: environment)
    let service = application.datasyncService
    let write = try service.createManager().nodeThrows(for: "/open/x").set(1)
    _ = await failures.wait(1)
    try await TreeServing.with({ $0.port = port.withLock { $0 } }) { _ in
      service.reconnect()
      try await write.acknowledged()
      service.shutDown()
    }
  }
}

/// Opens real WebSockets, and reports the attempts that fail.
private struct FailureReporter: MessageSocketConnector {
  let real: any MessageSocketConnector
  let failed: @Sendable () -> Void

  func open(
    _ request: MessageSocketRequest, on loop: any Loop, handler: any MessageSocketHandler,
    completion: @escaping (Result<Opened, MessageSocketFailure>) -> Void
  ) -> ConnectAttempt {
    real.open(request, on: loop, handler: handler) { result in
      completion(result)
      if case .failure = result { failed() }
    }
  }
}

/// Opens real WebSockets, and drops what arrives over those that were open at a moment.
private final class DeafSockets: MessageSocketConnector {
  private let real: any MessageSocketConnector
  /// How many were opened, and how many of these are deaf.
  private let state = Lock((opened: 0, deaf: 0))

  init(_ real: any MessageSocketConnector) { self.real = real }

  var opened: Int { state.withLock { $0.opened } }
  func loseAll() { state.withLock { $0.deaf = $0.opened } }
  fileprivate func isHeard(_ number: Int) -> Bool { state.withLock { number > $0.deaf } }

  func open(
    _ request: MessageSocketRequest, on loop: any Loop, handler: any MessageSocketHandler,
    completion: @escaping (Result<Opened, MessageSocketFailure>) -> Void
  ) -> ConnectAttempt {
    let number = state.withLock { state in
      state.opened += 1
      return state.opened
    }
    return real.open(request, on: loop, handler: Ear(handler, self, number), completion: completion)
  }

  private final class Ear: MessageSocketHandler {
    private let handler: any MessageSocketHandler
    private let owner: DeafSockets
    private let number: Int

    init(_ handler: any MessageSocketHandler, _ owner: DeafSockets, _ number: Int) {
      (self.handler, self.owner, self.number) = (handler, owner, number)
    }

    func received(text: [UInt8]) { if owner.isHeard(number) { handler.received(text: text) } }
    func receivedBinary() { handler.receivedBinary() }
    func closed(code: WebSocketCloseCode, reason: String) { handler.closed(code: code, reason: reason) }
  }
}
