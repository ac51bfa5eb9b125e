#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Which thread this is, to compare with later: a lock's holder can detect that it holds the lock already.
package struct ThreadMark: Hashable, Sendable {
  /// A number that no other running thread has; never 0.
  package let bits: UInt

  /// The running thread.
  package static var current: ThreadMark {
    #if canImport(Darwin)
      // The pointer is an identity here; it is never dereferenced.
      unsafe ThreadMark(bits: UInt(bitPattern: pthread_self()))
    #else
      ThreadMark(bits: UInt(pthread_self()))
    #endif
  }
}
