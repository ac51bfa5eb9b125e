// Sockets as Glibc declares them; the suites with servers run on Linux.
#if canImport(Glibc)
  import Foundation
  import MartletRuntime

  /// Leads connections on this machine to a server's port, and cuts them: when a test says so, or after so many of the
  /// server's bytes.
  final class CuttingProxy: Sendable {
    private struct Shared {
      var open: Set<Int32> = []
      var accepted = 0
      var cuts = 0
      var isStopped = false
    }

    let port: Int
    private let target: Int
    private let listener: Int32
    private let shared = Lock(Shared())
    /// The bytes of the server's that a connection lives for, by its place in their order.
    private let life: @Sendable (Int) -> Int

    init(to target: Int, life: @escaping @Sendable (Int) -> Int = { _ in .max }) throws {
      self.target = target
      self.life = life
      listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = Self.address(0)
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let listener = listener
      let isBound = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(listener, $0, length) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &length) == 0
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

    private static func address(_ port: Int) -> sockaddr_in {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      address.sin_port = UInt16(port).bigEndian
      return address
    }

    /// Connections so far, and those that were cut.
    var accepted: Int { shared.withLock { $0.accepted } }
    var cuts: Int { shared.withLock { $0.cuts } }

    /// Cuts every open connection.
    func cut() {
      shared.withLock { shared in
        shared.cuts += 1
        for connection in shared.open { shutdown(connection, Int32(SHUT_RDWR)) }
      }
    }

    func stop() {
      shared.withLock { $0.isStopped = true }
      shutdown(listener, Int32(SHUT_RDWR))
      close(listener)
      cut()
    }

    private func serve(_ client: Int32) {
      let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = Self.address(target)
      let isConnected = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      let number = shared.withLock { shared -> Int? in
        guard isConnected, !shared.isStopped else { return nil }
        shared.accepted += 1
        shared.open.formUnion([client, server])
        return shared.accepted
      }
      if let number {
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          Self.pump(client, server, .max)
          ended.signal()
        }
        if Self.pump(server, client, life(number)) { shared.withLock { $0.cuts += 1 } }
        ended.wait()
      }
      shared.withLock { $0.open.subtract([client, server]) }
      close(client)
      close(server)
    }

    /// Passes bytes on until either end is gone; true when it was cut after the last of `most` bytes.
    @discardableResult
    private static func pump(_ from: Int32, _ to: Int32, _ most: Int) -> Bool {
      var left = most
      var buffer = [UInt8](repeating: 0, count: 16_384)
      while left > 0 {
        let count = recv(from, &buffer, min(left, buffer.count), 0)
        guard count > 0, send(to, buffer, count, Int32(MSG_NOSIGNAL)) == count else { break }
        left -= count
      }
      shutdown(to, Int32(SHUT_RDWR))
      shutdown(from, Int32(SHUT_RDWR))
      return left == 0
    }
  }
#endif
