import MartletJSON
import MartletLoop
import MartletRuntime
import MartletSockets
import Synchronization

/// One HTTP exchange written out by hand, over a connection of its own.
enum HTTPRequest {
  struct Answer: Sendable {
    var status: Int
    var head: String
    var body: [UInt8]
    var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
    var text: String { String(decoding: body, as: UTF8.self) }
  }

  /// Sends bytes and reads until the server ends the connection.
  static func raw(_ text: String, port: Int) async throws -> Answer {
    let loop = try TestLoop.shared()
    let bytes = try await withCheckedThrowingContinuation { (done: CheckedContinuation<[UInt8], any Error>) in
      loop.execute {
        let reader = Reader(done)
        _ = SocketConnector().connect(
          to: ConnectionTarget(host: "127.0.0.1", port: port, isSecure: false), on: loop, handler: reader
        ) { result in
          switch result {
          case .success(let channel):
            reader.channel = channel
            channel.write { $0.append(text) }
          case .failure(let error): done.resume(throwing: error)
          }
        }
      }
    }
    let whole = String(decoding: bytes, as: UTF8.self)
    let parts = whole.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
    let head = parts.first.map(String.init) ?? ""
    let status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return Answer(status: status, head: head, body: parts.count > 1 ? Array(parts[1].utf8) : [])
  }

  /// A request with a body, by the usual headers.
  static func send(
    _ method: String, _ target: String, port: Int, host: String? = nil, headers: [(String, String)] = [],
    body: String? = nil
  ) async throws -> Answer {
    var text = "\(method) \(target) HTTP/1.1\r\nHost: \(host ?? "127.0.0.1:\(port)")\r\nConnection: close\r\n"
    for (name, value) in headers { text += "\(name): \(value)\r\n" }
    if let body { text += "Content-Length: \(body.utf8.count)\r\n\r\n\(body)" } else { text += "\r\n" }
    return try await raw(text, port: port)
  }

  /// A GraphQL operation by POST.
  static func graphql(
    _ query: String, port: Int, variables: JSONObject = [:], extensions: JSONObject = [:],
    headers: [(String, String)] = []
  ) async throws -> Answer {
    let body: JSONValue = [
      "query": .string(query), "variables": .object(variables), "extensions": .object(extensions),
    ]
    return try await send(
      "POST", "/graphql", port: port, headers: [("Content-Type", "application/json")] + headers,
      body: String(decoding: body.serialized(), as: UTF8.self))
  }

  private final class Reader: ByteChannelHandler {
    private var bytes: [UInt8] = []
    private let done: CheckedContinuation<[UInt8], any Error>
    var channel: (any ByteChannel)?

    init(_ done: CheckedContinuation<[UInt8], any Error>) { self.done = done }

    func received(_ span: borrowing RawSpan) { span.withUnsafeBytes { bytes.append(contentsOf: $0) } }
    func drained() {}
    func closed(_ reason: ChannelCloseReason) { done.resume(returning: bytes) }
  }
}
