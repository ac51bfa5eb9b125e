internal import Foundation
internal import MartletRuntime

/// A port of this machine to which a browser is sent at the end of signing in (RFC 8252, section 7.3).
///
/// It is bound to 127.0.0.1, so that no other machine reaches it, and closed with its last reader.
struct LoopbackPort: Sendable {
  /// Why there is none.
  struct Failure: Error {}

  /// The system's number for a stream of bytes, whose type differs between the platforms.
  private static let stream: Int32 = 1
  /// How long the end of reading may stay unseen.
  private static let tick: Int32 = 250
  /// How long a browser may take to send its request; some open connections that they do not use.
  private static let patience = 10
  /// Bytes of a request's head: what browsers send is some 2 KiB.
  private static let headBytes = 16_384

  /// Where a browser is to be sent.
  let address: String
  /// The target of each request with a query, such as `/?code=…&state=…`.
  let targets: AsyncStream<String>

  init() throws(Failure) {
    let listener = socket(AF_INET, Self.stream, 0)
    guard listener >= 0 else { throw Failure() }
    var local = sockaddr_in()
    local.sin_family = sa_family_t(AF_INET)
    local.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    // The system reads and writes one address of that length, which outlives the calls.
    let isBound = unsafe withUnsafeMutablePointer(to: &local) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe bind(listener, address, length) == 0 && listen(listener, 8) == 0
          && getsockname(listener, address, &length) == 0
      }
    }
    guard isBound else {
      close(listener)
      throw Failure()
    }
    address = "http://127.0.0.1:\(UInt16(bigEndian: local.sin_port))/"
    targets = AsyncStream(bufferingPolicy: .bufferingNewest(16)) { targets in
      let isOver = Lock(false)
      targets.onTermination = { _ in isOver.withLock { $0 = true } }
      DispatchQueue.global().async {
        while !isOver.withLock({ $0 }) {
          var waiting = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
          // One descriptor, which outlives the call.
          guard unsafe poll(&waiting, 1, Self.tick) == 1 else { continue }
          let connection = accept(listener, nil, nil)
          if connection >= 0 { DispatchQueue.global().async { Self.serve(connection, targets) } }
        }
        close(listener)
      }
    }
  }

  private static func serve(_ connection: Int32, _ targets: AsyncStream<String>.Continuation) {
    defer { close(connection) }
    // A browser may close its connection before the answer.
    WriteSignals.blockInThread()
    var time = timeval(tv_sec: patience, tv_usec: 0)
    // The option is read during the call.
    unsafe setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    guard let target = target(of: head(from: connection)) else { return answer("400 Bad Request", "", connection) }
    guard target.utf8.contains(UInt8(ascii: "?")) else { return answer("404 Not Found", "", connection) }
    answer("200 OK", "You can close this window.", connection)
    targets.yield(target)
  }

  /// What was received up to the empty line after the fields, or until nothing more came.
  private static func head(from connection: Int32) -> [UInt8] {
    var head: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4_096)
    while head.count < headBytes, head.suffix(4) != [13, 10, 13, 10] {
      // As many bytes as the array has, which outlives the call.
      let count = unsafe recv(connection, &piece, piece.count, 0)
      if count <= 0 { break }
      head += piece.prefix(count)
    }
    return head
  }

  /// The target of a `GET` request's first line.
  static func target(of head: [UInt8]) -> String? {
    let line = head.prefix { $0 != 13 && $0 != 10 }
    let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard words.count == 3, words[0].elementsEqual("GET".utf8), words[1].first == UInt8(ascii: "/"),
      words[1].allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { return nil }
    return String(decoding: words[1], as: UTF8.self)
  }

  private static func answer(_ status: String, _ text: String, _ connection: Int32) {
    let fields = "Content-Type: text/plain; charset=utf-8\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer"
    let bytes = Array(
      "HTTP/1.1 \(status)\r\n\(fields)\r\nContent-Length: \(text.utf8.count)\r\nConnection: close\r\n\r\n\(text)".utf8)
    // A short answer fits the socket's buffer; a browser that is gone misses nothing.
    _ = unsafe send(connection, bytes, bytes.count, 0)
  }
}
