import Foundation
import Martlet
import MartletFoundationNetwork
import MartletGraphQLClient
import MartletRuntime
import MartletTesting
import Testing

/// The loop of Foundation's network, in real time, with everything above it that a client has: its tasks run on the
/// concurrent pool, as in an application. The script of a test runs on the loop.
final class RealTime: TaskExecutor {
  let loop: DispatchLoop

  init(_ loop: DispatchLoop = DispatchLoop(name: "client")) { self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  /// Runs a script on the loop.
  func run<Answer: Sendable>(_ script: @escaping @Sendable () async throws -> Answer) async throws -> Answer {
    try await Task(executorPreference: self) { try await script() }.value
  }

  /// A server whose sockets a script plays.
  func server(_ dialect: Dialect = .graphqlTransportWS) -> ScriptedServer {
    let loop = loop
    let server = ScriptedServer(loop: loop, spawner: ConcurrentSpawner()) { loop.isCurrent }
    server.dialect = dialect
    return server
  }

  /// A client of a scripted server. It waits milliseconds where one in use waits seconds.
  func client(
    of server: ScriptedServer, _ configure: (inout ConnectionConfiguration) -> Void = { _ in }
  ) throws -> GraphQLClient {
    var configuration = Self.configuration
    configuration.dialect = server.dialect
    configure(&configuration)
    let url = try #require(URL(string: "ws://example.test/graphql"))
    return try GraphQLClient(url: url, configuration: configuration, environment: server.environment)
  }

  /// A client whose requests and streams a script answers.
  func client(
    over http: any HTTPExchanging, _ configure: (inout ConnectionConfiguration) -> Void = { _ in }
  ) throws -> GraphQLClient {
    var configuration = Self.configuration
    configure(&configuration)
    let url = try #require(URL(string: "http://example.test/graphql"))
    return try GraphQLClient(url: url, configuration: configuration, environment: environment(http))
  }

  func environment(_ http: any HTTPExchanging) -> ClientEnvironment {
    ClientEnvironment(
      loop: loop, sockets: nil, http: http, requests: .exchanges(http, TemporaryBodies()),
      spawner: ConcurrentSpawner(), seed: 1)
  }

  private static var configuration: ConnectionConfiguration {
    var configuration = ConnectionConfiguration()
    configuration.reconnect.firstDelay = .milliseconds(1)
    configuration.reconnect.longestDelay = .milliseconds(5)
    return configuration
  }
}

/// HTTP whose responses a test writes, request by request, on any loop.
///
/// `@unchecked Sendable` because it is touched only on its loop.
final class ScriptedHTTP: HTTPExchanging, @unchecked Sendable {
  /// What happens to a request.
  enum Reply {
    case answer(Int, String, type: String = "application/graphql-response+json", more: [(String, String)] = [])
    /// A head and pieces of a stream; the response stays open.
    case stream(type: String, [String], isCut: Bool = false)
    /// The request is accepted, and this is sent on the newest stream.
    case accepted(sending: [String])
    case fails(HTTPExchangeError.Code)
    case silence
  }

  private(set) var requests: [HTTPExchangeRequest] = []
  /// The bodies that were files, which are removed after the exchange.
  private(set) var files: [[UInt8]] = []
  private(set) var cancelled = 0
  /// Sends on the newest stream.
  private var sendOnStream: (String) -> Void = { _ in }
  private let script: (Int, HTTPExchangeRequest) -> Reply

  init(_ script: @escaping @Sendable (Int, HTTPExchangeRequest) -> Reply) { self.script = script }

  func start(_ request: HTTPExchangeRequest, on loop: any Loop, handler: any HTTPExchangeHandler) -> HTTPExchange {
    requests.append(request)
    if let file = request.bodyFile { files.append((try? Array(Data(contentsOf: URL(fileURLWithPath: file)))) ?? []) }
    let reply = script(requests.count, request)
    var isOver = false
    loop.schedule(at: loop.now) {
      func head(_ status: Int, _ type: String, _ more: [(String, String)] = []) {
        handler.received(
          head: HTTPExchangeHead(
            status: status, headers: [(name: "Content-Type", value: type)] + more.map { (name: $0, value: $1) },
            majorVersion: 1))
      }
      func piece(_ text: String) {
        guard !isOver else { return }
        handler.received(body: Array(text.utf8).span.bytes)
      }
      guard !isOver else { return }
      switch reply {
      case .answer(let status, let body, let type, let more):
        head(status, type, more)
        piece(body)
        if !isOver { handler.ended(nil) }
      case .stream(let type, let pieces, let isCut):
        self.sendOnStream = piece
        head(200, type)
        for text in pieces { piece(text) }
        if isCut, !isOver { handler.ended(HTTPExchangeError(.response, "cut")) }
      case .accepted(let pieces):
        head(202, "text/plain")
        if !isOver { handler.ended(nil) }
        for text in pieces { self.sendOnStream(text) }
      case .fails(let code): handler.ended(HTTPExchangeError(code, "scripted"))
      case .silence: break
      }
    }
    return HTTPExchange(
      cancelling: { [self] in
        isOver = true
        cancelled += 1
      }, pausing: { _ in })
  }
}
