import Foundation
import Martlet
import MartletRuntime
import MartletSimulation

/// An HTTP server on the imaginary network that does what a test says, request by request.
///
/// `@unchecked Sendable` because it is touched only inside the executor's pump, or between its runs.
final class ScriptedHTTPServer: @unchecked Sendable {
  /// What happens to a request.
  enum Reply {
    case answer(status: Int, type: String, body: String, more: String = "")
    /// These bytes as they stand.
    case bytes(String)
    /// The same, not text.
    case raw([UInt8])
    /// The connection is cut without an answer.
    case cut
    /// A part of an answer, then the cut.
    case cutAfter(String)
    case silence

    static func json(_ body: String, status: Int = 200) -> Reply {
      .answer(status: status, type: "application/graphql-response+json", body: body)
    }
  }

  struct Request {
    var connection: Int
    var head: String
    var body: JSONValue
    /// The body as it came.
    var text = ""
    func has(_ line: String) -> Bool { head.split(separator: "\r\n").contains { $0 == line } }
  }

  let executor: SimulatedExecutor
  let network: SimulatedNetwork
  private let loop: SimulatedLoop
  private(set) var requests: [Request] = []
  private(set) var connections = 0
  /// Asked for each request, with its place in the order of arrival, from 1.
  var script: (Int, Request) -> Reply

  init(seed: UInt64 = 1, _ script: @escaping (Int, Request) -> Reply) {
    executor = SimulatedExecutor(seed: seed)
    network = SimulatedNetwork(executor)
    loop = executor.makeLoop("server")
    self.script = script
    _ = network.listen(port: 80, on: [loop]) { [self] channel in
      connections += 1
      return Peer(self, channel, connections)
    }
  }

  func environment() -> ClientEnvironment {
    ClientEnvironment(
      loop: executor.makeLoop("client"), sockets: nil, http: nil,
      requests: .connections(network),
      spawner: executor.spawner, seed: 1)
  }

  /// A client over a chain of interceptors.
  func chained(
    _ interceptors: [any Interceptor], store: GraphQLStore = GraphQLStore(),
    _ configure: (inout ConnectionConfiguration) -> Void = { _ in }
  ) throws -> GraphQLClient {
    var configuration = ConnectionConfiguration()
    configure(&configuration)
    guard let url = URL(string: "http://server.test/graphql") else { throw CancellationError() }
    let transport = RequestChainNetworkTransport(
      interceptorProvider: DefaultInterceptorProvider(interceptors: interceptors), endpointURL: url,
      configuration: configuration, environment: environment())
    return GraphQLClient(networkTransport: transport, store: store)
  }

  /// A client that sends everything by HTTP.
  func client(
    in given: ClientEnvironment? = nil, _ configure: (inout ConnectionConfiguration) -> Void = { _ in }
  ) throws -> GraphQLClient {
    var configuration = ConnectionConfiguration()
    configure(&configuration)
    let environment = given ?? environment()
    guard let url = URL(string: "http://server.test/graphql?v=1") else { throw CancellationError() }
    return try GraphQLClient(url: url, configuration: configuration, environment: environment)
  }

  fileprivate func arrived(_ request: Request, on channel: any ByteChannel) {
    requests.append(request)
    switch script(requests.count, request) {
    case .answer(let status, let type, let body, let more):
      let text =
        "HTTP/1.1 \(status) X\r\nContent-Type: \(type)\r\n\(more)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
      channel.write { $0.append(text) }
    case .raw(let bytes): channel.write { $0.append(bytes) }
    case .bytes(let text): channel.write { $0.append(text) }
    case .cut: channel.abort()
    case .cutAfter(let text):
      channel.write { $0.append(text) }
      channel.closeAfterFlush()
    case .silence: break
    }
  }

  private final class Peer: ByteChannelHandler {
    private let server: ScriptedHTTPServer
    private let channel: any ByteChannel
    private let number: Int
    private var input: [UInt8] = []

    init(_ server: ScriptedHTTPServer, _ channel: any ByteChannel, _ number: Int) {
      self.server = server
      self.channel = channel
      self.number = number
    }

    func received(_ bytes: borrowing RawSpan) {
      for index in 0..<bytes.byteCount { input.append(bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)) }
      let text = String(decoding: input, as: UTF8.self)
      guard let end = text.range(of: "\r\n\r\n") else { return }
      let length = text.range(of: "Content-Length: ").map { text[$0.upperBound...].prefix { $0.isNumber } } ?? "0"
      let body = Array(text[end.upperBound...].utf8)
      guard body.count == Int(length) else { return }
      input = []
      server.arrived(
        Request(
          connection: number, head: String(text[..<end.lowerBound]), body: (try? JSONValue(parsing: body)) ?? .null,
          text: String(text[end.upperBound...])),
        on: channel)
    }
    func drained() {}
    func closed(_ reason: ChannelCloseReason) {}
  }
}

extension SimulatedExecutor {
  /// Runs an operation that is to fail, and answers its error.
  func failure(_ body: @escaping @Sendable () async throws -> Void) throws -> GraphQLClientError? {
    try run {
      do {
        try await body()
        return nil
      } catch let error as GraphQLClientError { return error }
    }
  }
}
