internal import CMartletSystem

#if canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A system call failed: which one and the system's error number.
package struct SocketError: Error, Sendable, Equatable, CustomStringConvertible {
  package var code: Int32
  package var operation: String

  package init(code: Int32, operation: String) {
    self.code = code
    self.operation = operation
  }

  package var description: String {
    "\(operation): \(Self.text(of: code))"
  }

  /// Whether another process listens at the address.
  package var isAddressInUse: Bool { code == EADDRINUSE }

  /// The system's text for an error number.
  package static func text(of code: Int32) -> String {
    // The shim answers a static string, never null.
    guard let text = unsafe martlet_error_text(code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }

  /// Passes a non-negative answer on and throws a negative one, which is a negated error number.
  package static func check(_ answer: Int32, _ operation: String) throws(SocketError) -> Int32 {
    guard answer >= 0 else { throw SocketError(code: 0 &- answer, operation: operation) }
    return answer
  }
}
