internal import CMartletSystem

/// The system calls of connected sockets, so that tests can answer with short writes, EINTR, EAGAIN and resets.
/// Answers are byte counts, descriptors or zero; failures are negated error numbers.
package protocol SocketCalls: Sendable {
  func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int
  func receive(_ descriptor: Int32, into bytes: UnsafeMutableRawBufferPointer) -> Int
  /// A connected descriptor and its peer.
  func accept(_ listener: Int32) -> (descriptor: Int32, peer: SocketAddress?)
  func close(_ descriptor: Int32)
}

/// The kernel's own.
package struct KernelCalls: SocketCalls {
  package init() {}

  package func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    // The buffer is valid for the call.
    unsafe martlet_send(descriptor, bytes.baseAddress, bytes.count)
  }

  package func receive(_ descriptor: Int32, into bytes: UnsafeMutableRawBufferPointer) -> Int {
    unsafe martlet_receive(descriptor, bytes.baseAddress, bytes.count)
  }

  package func accept(_ listener: Int32) -> (descriptor: Int32, peer: SocketAddress?) {
    var peer = martlet_address()
    let descriptor = unsafe martlet_accept(listener, &peer)
    return (descriptor, descriptor < 0 ? nil : SocketAddress(peer))
  }

  package func close(_ descriptor: Int32) {
    _ = martlet_close(descriptor)
  }
}

/// The error numbers the sockets act on, as the negated answers of `SocketCalls`.
package enum SystemAnswer {
  package static let interrupted = -4
  package static let again = -11
  package static let processDescriptors = -24
  package static let systemDescriptors = -23
  package static let connectionReset = -104
  package static let connectionAborted = -103
}
