internal import CMartletSystem
package import MartletLoop

#if canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A listening socket that the process was started with, as a service manager hands it over.
package enum InheritedSocket {
  /// The numeric address and the port where a descriptor listens.
  /// - Throws: when it is not a TCP socket that listens.
  package static func place(_ descriptor: Int32) throws(SocketError) -> (host: String, port: Int) {
    let what = "taking over the socket with descriptor \(descriptor)"
    guard try option(SO_ACCEPTCONN, of: descriptor, what) != 0 else {
      throw SocketError(code: EINVAL, operation: "\(what), which does not listen")
    }
    let domain = try option(SO_DOMAIN, of: descriptor, what)
    guard domain == AF_INET || domain == AF_INET6 else {
      throw SocketError(code: EAFNOSUPPORT, operation: "\(what), which is not a TCP socket")
    }
    var bound = martlet_address()
    // The address outlives the call.
    _ = try SocketError.check(unsafe martlet_local_address(descriptor, &bound), what)
    // "127.0.0.1:8080" or "[::1]:8080".
    let text = "\(SocketAddress(bound))"
    let host = text[..<(text.lastIndex(of: ":") ?? text.endIndex)].filter { $0 != "[" && $0 != "]" }
    return (host, Int(bound.port))
  }

  /// Makes a descriptor fit for a loop: it never blocks, and no process that is started from here inherits it.
  static func take(_ descriptor: Int32) throws(SocketError) {
    _ = try place(descriptor)
    let flags = fcntl(descriptor, F_GETFL)
    guard flags >= 0, fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0,
      fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0
    else { throw SocketError(code: errno, operation: "taking over the socket with descriptor \(descriptor)") }
  }

  private static func option(_ name: Int32, of descriptor: Int32, _ what: String) throws(SocketError) -> Int32 {
    var value: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    // Value and size outlive the call, and the size is the value's.
    guard unsafe getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 else {
      throw SocketError(code: errno, operation: what)
    }
    return value
  }
}
