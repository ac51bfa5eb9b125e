// Sockets as Glibc declares them; the suites that need a proxy run on Linux.
#if canImport(Glibc)
  import Foundation
  import MartletRuntime

  /// An HTTP proxy on this machine that understands `CONNECT` and leads every tunnel to `localhost`; for tests.
  package final class ConnectProxy: Sendable {
    package let port: Int
    private let listener: Int32
    private let seen = Lock<[String]>([])

    /// The first line of every request.
    package var requests: [String] { seen.withLock { $0 } }

    package init() throws {
      listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let listener = listener
      let isBound = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(listener, $0, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &length) == 0
        }
      }
      guard isBound else { throw CocoaError(.fileReadUnknown) }
      port = Int(UInt16(bigEndian: address.sin_port))
      Thread.detachNewThread { [self] in
        while true {
          let client = accept(listener, nil, nil)
          if client < 0 { return }
          Thread.detachNewThread { self.serve(client) }
        }
      }
    }

    package func stop() {
      shutdown(listener, Int32(SHUT_RDWR))
      close(listener)
    }

    private func serve(_ client: Int32) {
      var head: [UInt8] = []
      var byte: UInt8 = 0
      while !head.suffix(4).elementsEqual([13, 10, 13, 10]), recv(client, &byte, 1, 0) == 1 { head.append(byte) }
      let line = String(decoding: head.prefix { $0 != 13 }, as: UTF8.self)
      seen.withLock { $0.append(line) }
      let port = line.split(separator: " ").dropFirst().first?.split(separator: ":").last.flatMap { UInt16($0) }
      let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      address.sin_port = (port ?? 0).bigEndian
      let isConnected = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      let answer = isConnected && line.hasPrefix("CONNECT ") ? "200 Tunnel" : "502 No"
      let text = Array("HTTP/1.1 \(answer)\r\n\r\n".utf8)
      _ = send(client, text, text.count, Int32(MSG_NOSIGNAL))
      Thread.detachNewThread { Self.pump(server, client) }
      Self.pump(client, server)
    }

    private static func pump(_ from: Int32, _ to: Int32) {
      var buffer = [UInt8](repeating: 0, count: 16_384)
      while true {
        let count = recv(from, &buffer, buffer.count, 0)
        guard count > 0, send(to, buffer, count, Int32(MSG_NOSIGNAL)) == count else { break }
      }
      shutdown(to, Int32(SHUT_RDWR))
      shutdown(from, Int32(SHUT_RDWR))
    }
  }
#endif
