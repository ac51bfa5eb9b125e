import Foundation
import MartletLoop
import MartletRuntime
import MartletSockets
import MartletVocabulary
import MartletWire

/// `martlet echo --connect URL`: walks the cases of an Autobahn fuzzing server, sending back what each sends.
enum EchoClient {
  /// What went wrong before or between cases.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Runs all cases and asks for the report. Answers how many cases there were.
  static func run(url text: String, agent: String = "martlet") async throws -> Int {
    let (endpoint, path) = try parse(text)
    var limits = LoopLimits()
    limits.pendingBytes = EchoLimits.pendingBytes
    let loop = try EpollLoop.start(name: "martlet-echo", limits: limits)
    defer { loop.stop() }
    let session = Session(loop: loop, pool: EchoPool(on: loop), endpoint: endpoint, path: path)
    let answer = try await session.run("getCaseCount", echoes: false)
    guard let count = Int(answer) else { throw Failure(description: "getCaseCount answered \(answer)") }
    for number in 1...max(1, count) where number <= count {
      _ = try await session.run("runCase?case=\(number)&agent=\(agent)", echoes: true)
    }
    _ = try await session.run("updateReports?agent=\(agent)", echoes: false)
    return count
  }

  static func parse(_ text: String) throws -> (ConnectionTarget, path: String) {
    guard let parts = URLComponents(string: text), let host = parts.host, parts.scheme == "ws" || parts.scheme == "wss"
    else { throw Failure(description: "\(text) is not a ws: or wss: URL") }
    let isSecure = parts.scheme == "wss"
    let endpoint = ConnectionTarget(host: host, port: parts.port ?? (isSecure ? 443 : 80), isSecure: isSecure)
    return (endpoint, parts.path.hasSuffix("/") ? parts.path : parts.path + "/")
  }
}

/// The connections of one walk, one after the other.
private struct Session: Sendable {
  let loop: EpollLoop
  let pool: EchoPool
  let endpoint: ConnectionTarget
  let path: String

  /// Opens one connection and answers, when it has closed, the last text it received.
  func run(_ command: String, echoes: Bool) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
      loop.execute { start(command, echoes: echoes, continuation) }
    }
  }

  private func start(_ command: String, echoes: Bool, _ continuation: CheckedContinuation<String, any Error>) {
    var request = WebSocketConnector.Request(endpoint: endpoint, target: path + command)
    request.deflate = .client
    request.limits = EchoLimits.webSocket
    let connector = WebSocketConnector(SocketConnector(), pool: pool.bound.value, random: SystemChance.generator())
    let walker = CaseHandler(echoes: echoes) { continuation.resume(returning: $0) }
    _ = connector.open(request, on: loop, handler: walker) { result in
      switch result {
      case .success(let opened): walker.echo.socket = opened.channel
      case .failure(.refused), .failure(.http):
        // Cases of a fuzzing server may break the handshake on purpose; refusing is the right answer.
        continuation.resume(returning: "")
      case .failure(let failure): continuation.resume(throwing: failure)
      }
    }
  }
}

/// One case: echoes, or only listens, until the connection has closed.
private final class CaseHandler: WebSocketHandler {
  let echo = EchoHandler()
  private let echoes: Bool
  private let done: (String) -> Void
  private var last: [UInt8] = []

  init(echoes: Bool, done: @escaping (String) -> Void) {
    self.echoes = echoes
    self.done = done
  }

  func received(text: [UInt8]) {
    if echoes { echo.received(text: text) } else { last = text }
  }

  func received(binary: [UInt8]) {
    if echoes { echo.received(binary: binary) }
  }

  func drained() {
    echo.drained()
  }

  func closed(_ closure: WebSocketClosure) {
    echo.closed(closure)
    done(String(decoding: last, as: UTF8.self))
  }
}
