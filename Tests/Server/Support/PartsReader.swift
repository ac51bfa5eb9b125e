import MartletJSON
import MartletLoop
import MartletRuntime
import MartletSockets

/// An HTTP exchange whose response is read as it comes: the head, then each part of a multipart body.
final class PartsReader: Sendable {
  private let loop: EpollLoop
  private let pieces: AsyncStream<[UInt8]>
  private let handler: Handler

  private init(_ loop: EpollLoop, _ pieces: AsyncStream<[UInt8]>, _ handler: Handler) {
    self.loop = loop
    self.pieces = pieces
    self.handler = handler
  }

  static func open(_ query: String, port: Int, accept: String) async throws -> PartsReader {
    let loop = try TestLoop.shared()
    let (pieces, continuation) = AsyncStream.makeStream(of: [UInt8].self)
    let handler = Handler(continuation)
    let body = String(decoding: JSONValue.object(["query": .string(query)]).serialized(), as: UTF8.self)
    let request =
      "POST /graphql HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\nAccept: \(accept)\r\n"
      + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      loop.execute {
        _ = SocketConnector().connect(
          to: ConnectionTarget(host: "127.0.0.1", port: port, isSecure: false), on: loop, handler: handler
        ) { result in
          switch result {
          case .success(let channel):
            handler.channel = channel
            channel.write { $0.append(request) }
            done.resume()
          case .failure(let error): done.resume(throwing: error)
          }
        }
      }
    }
    return PartsReader(loop, pieces, handler)
  }

  func abort() { loop.execute { self.handler.channel?.abort() } }

  /// The head, and each chunk of the body in order. A chunk is one write of the server.
  func read(_ body: (_ head: String, _ chunk: String) throws -> Bool) async throws -> (head: String, body: String) {
    var received: [UInt8] = []
    var whole = ""
    var head: String?
    for await piece in pieces {
      received += piece
      if head == nil, let end = Self.find("\r\n\r\n", in: received) {
        head = String(decoding: received[..<end], as: UTF8.self)
        received.removeFirst(end + 4)
      }
      guard let head else { continue }
      while let end = Self.find("\r\n", in: received),
        let size = Int(String(decoding: received[..<end], as: UTF8.self), radix: 16), received.count >= end + size + 4
      {
        let chunk = String(decoding: received[(end + 2)..<(end + 2 + size)], as: UTF8.self)
        received.removeFirst(end + size + 4)
        whole += chunk
        if size > 0, try !body(head, chunk) { return (head, whole) }
      }
    }
    return (head ?? "", whole)
  }

  private static func find(_ text: String, in bytes: [UInt8]) -> Int? {
    let wanted = Array(text.utf8)
    guard bytes.count >= wanted.count else { return nil }
    return (0...(bytes.count - wanted.count)).first { bytes[$0..<($0 + wanted.count)].elementsEqual(wanted) }
  }

  /// `@unchecked Sendable`: used on the loop only.
  private final class Handler: ByteChannelHandler, @unchecked Sendable {
    private let pieces: AsyncStream<[UInt8]>.Continuation
    var channel: (any ByteChannel)?

    init(_ pieces: AsyncStream<[UInt8]>.Continuation) { self.pieces = pieces }

    func received(_ span: borrowing RawSpan) {
      var bytes: [UInt8] = []
      span.withUnsafeBytes { bytes.append(contentsOf: $0) }
      pieces.yield(bytes)
    }

    func drained() {}
    func closed(_ reason: ChannelCloseReason) { pieces.finish() }
  }
}
