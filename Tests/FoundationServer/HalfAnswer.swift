#if canImport(Glibc)
  import Foundation

  /// A server that ends its first connection inside the head of the response.
  final class HalfAnswer: Sendable {
    let port: Int

    init() throws {
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isBound = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(listener, $0, length) == 0 && listen(listener, 1) == 0 && getsockname(listener, $0, &length) == 0
        }
      }
      guard isBound else { throw CocoaError(.fileReadUnknown) }
      port = Int(UInt16(bigEndian: address.sin_port))
      Thread.detachNewThread {
        let client = accept(listener, nil, nil)
        var buffer = [UInt8](repeating: 0, count: 16_384)
        _ = recv(client, &buffer, buffer.count, 0)
        let half = Array("HTTP/1.1 200 OK\r\nContent-Ty".utf8)
        _ = send(client, half, half.count, Int32(MSG_NOSIGNAL))
        shutdown(client, Int32(SHUT_RDWR))
        close(client)
        close(listener)
      }
    }
  }
#endif
