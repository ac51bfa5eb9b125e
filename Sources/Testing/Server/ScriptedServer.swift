public import MartletGraphQLClient
internal import MartletGraphQLWire
package import MartletJSON
package import MartletRuntime
package import MartletSimulation
public import MartletVocabulary

/// A GraphQL server over WebSockets that exists only in memory: a test says what it answers and when it fails.
///
///     let time = VirtualTime()
///     let server = ScriptedServer(time)
///     let client = try GraphQLClient(url: url, environment: server.environment)
///     try time.run {
///       let stream = client.subscribe("subscription { tick }")
///       let socket = try await server.accept()
///       let operation = try await socket.expectOperation()
///       socket.next(operation.id, data: ["tick": 1])
///       socket.cut()
///     }
///
/// It works on whole messages of any dialect; the bytes below them are tested with the library itself.
///
/// `@unchecked Sendable` holds because it lives in one `VirtualTime`, whose work runs one piece at a time: a test uses
/// it inside `run`, or between two runs.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
public final class ScriptedServer: @unchecked Sendable {
  /// What an attempt to connect meets.
  public enum Door: Sendable, Hashable {
    /// It opens.
    case open
    /// It fails at once, with an HTTP status when there is one, and the pause that the server asks for beside it.
    case refuses(status: Int? = nil, retryAfter: Duration? = nil)
    /// No server answers.
    case silent
    /// It opens, but the server chose this subprotocol, or none.
    case speaks(String?)
  }

  /// What one attempt to connect asked for.
  public struct Attempt: Sendable {
    /// When, in virtual time.
    public var at: Duration
    /// The URL's host.
    public var host: String
    /// Path and query.
    public var target: String
    /// The subprotocols offered.
    public var subprotocols: [String]
    /// The handshake's header fields that configuration and credentials added.
    public var headers: [(name: String, value: String)]
  }

  /// What the next attempts meet.
  public var door = Door.open
  /// How long a message takes to the client. Messages keep their order.
  public var delay = Duration.zero
  /// What sockets that open from now on speak. The client's configuration names the same.
  public var dialect = Dialect.graphqlTransportWS
  /// Acknowledges `connection_init` by itself, with this payload; nil leaves it to the test. AppSync's payload says how
  /// long the server may be silent, 300 seconds unless it is said here.
  public var acknowledgement: JSONObject? = JSONObject()
  /// Answers pings by itself. What is answered by itself is not `expect`ed.
  public var answersPings = true
  /// Confirms by itself what the dialect confirms: AppSync's `start` by `start_ack`, and in both older dialects `stop`
  /// by `complete`. These messages are `expect`ed all the same.
  public var confirms = true
  /// Between the `ka` messages of the two older dialects, the first right after the acknowledgement that the server
  /// sends by itself; nil sends none.
  public var keepAliveInterval: Duration? = .seconds(10)
  /// Every attempt, in order.
  public private(set) var attempts: [Attempt] = []
  /// Every socket that opened, in order.
  public private(set) var sockets: [ScriptedSocket] = []

  let loop: any Loop
  private let spawner: any Spawner
  private let seed: UInt64
  private var accepted = 0
  private let waiters: Waiters
  let isInside: @Sendable () -> Bool

  /// A server in `time`.
  public convenience init(_ time: VirtualTime) {
    self.init(loop: time.loop)
  }

  package convenience init(loop: SimulatedLoop, seed: UInt64 = 1) {
    let executor = loop.executor
    self.init(loop: loop, spawner: executor.spawner, seed: seed) { executor.isOnPump }
  }

  /// A server on any loop, also in real time.
  ///
  /// - Parameters:
  ///   - spawner: starts the client's tasks.
  ///   - isInside: whether the caller runs where the script runs. One thread at a time does, and the loop's work runs
  ///     there, too.
  package init(
    loop: any Loop, spawner: any Spawner, seed: UInt64 = 1, isInside: @escaping @Sendable () -> Bool
  ) {
    self.loop = loop
    self.spawner = spawner
    self.seed = seed
    waiters = Waiters(loop, isInside: isInside)
    self.isInside = isInside
  }

  /// Where a client must live to talk to this server and in its time. Whatever its URL says leads here.
  public var environment: ClientEnvironment {
    var environment = ClientEnvironment(
      loop: loop, sockets: Connector(server: self), http: nil, requests: .socket, spawner: spawner,
      seed: seed)
    let loop = loop
    environment.calendar = { Self.beginning + (loop.now - .zero).components.seconds * 1_000 }
    return environment
  }

  /// The calendar when virtual time begins: 2026-01-01T00:00:00Z, in milliseconds since 1970. Signatures show it.
  private static let beginning: Int64 = 1_767_225_600_000

  /// The newest socket.
  public var socket: ScriptedSocket? { sockets.last }

  /// The next socket that this function has not answered yet. Inside `VirtualTime.run`.
  /// - Throws: `ScriptError` when none opens within `limit`.
  @discardableResult
  public func accept(within limit: Duration = .seconds(60)) async throws -> ScriptedSocket {
    let deadline = loop.now + limit
    while accepted == sockets.count {
      guard loop.now < deadline else { throw ScriptError("no client connected within \(limit)") }
      await waiters.wait(until: deadline)
    }
    accepted += 1
    return sockets[accepted - 1]
  }

  fileprivate func opening(
    _ request: MessageSocketRequest, _ handler: any MessageSocketHandler,
    _ completion: @escaping (Result<MessageSocketConnector.Opened, MessageSocketFailure>) -> Void
  ) -> ConnectAttempt {
    attempts.append(
      Attempt(
        at: loop.now - .zero, host: request.endpoint.host, target: request.endpoint.target,
        subprotocols: request.subprotocols, headers: request.headers))
    let door = self.door
    if door == .silent {
      let timer = loop.schedule(at: loop.now + request.openTimeout) {
        completion(.failure(MessageSocketFailure("no answer within \(request.openTimeout)")))
      }
      return ConnectAttempt { timer.cancel() }
    }
    // Never inside the call, as with real sockets.
    let timer = loop.schedule(at: loop.now + delay) { [self] in
      switch door {
      case .silent: break
      case .refuses(let status, let pause):
        completion(
          .failure(
            MessageSocketFailure("refused", status: status, retryAfter: pause.map { "\($0.components.seconds)" })))
      case .open: answer(dialect.subprotocol, handler, completion)
      case .speaks(let subprotocol): answer(subprotocol, handler, completion)
      }
    }
    return ConnectAttempt { timer.cancel() }
  }

  private func answer(
    _ subprotocol: String?, _ handler: any MessageSocketHandler,
    _ completion: (Result<MessageSocketConnector.Opened, MessageSocketFailure>) -> Void
  ) {
    let socket = ScriptedSocket(server: self, dialect, handler: handler)
    sockets.append(socket)
    completion(.success((ClientEnd(socket), subprotocol)))
    waiters.wake()
  }
}

/// Leads every attempt to connect to one scripted server.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private struct Connector: MessageSocketConnector {
  let server: ScriptedServer

  func open(
    _ request: MessageSocketRequest, on loop: any Loop, handler: any MessageSocketHandler,
    completion: @escaping (Result<Opened, MessageSocketFailure>) -> Void
  ) -> ConnectAttempt {
    server.opening(request, handler, completion)
  }
}

/// A script and a client that did not fit together.
public struct ScriptError: Error, Sendable, CustomStringConvertible {
  /// What was expected and what came.
  public var description: String

  init(_ description: String) {
    self.description = description
  }
}
