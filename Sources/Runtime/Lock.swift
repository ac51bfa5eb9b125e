#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// A value that several threads use, one at a time.
///
/// The standard library's `Mutex` is the same idea; it needs newer Apple systems than the client supports, and the
/// thread sanitizer does not see how it hands itself over when threads wait for it. This one is the system's own lock.
///
/// A lock for what is elsewhere has a value with a size, such as `true`: the thread sanitizer takes an access to a
/// value without one for an access to the lock's own first word, which every thread reads.
///
/// `@unchecked Sendable` holds because the value is reachable only inside `withLock`, and the system's lock lives at an
/// address of its own that never moves.
@safe
package final class Lock<Value>: @unchecked Sendable {
  #if canImport(Darwin)
    private let system: UnsafeMutablePointer<os_unfair_lock>
  #else
    private let system: UnsafeMutablePointer<pthread_mutex_t>
  #endif
  /// Overlapping accesses are not looked for at run time, which takes longer than the lock: the lock excludes them, and
  /// one within another waits for itself.
  @exclusivity(unchecked) @usableFromInline var value: Value

  package init(_ value: sending Value) {
    unsafe self.value = value
    unsafe system = .allocate(capacity: 1)
    #if canImport(Darwin)
      unsafe system.initialize(to: os_unfair_lock())
    #else
      unsafe pthread_mutex_init(system, nil)
    #endif
  }

  deinit {
    #if !canImport(Darwin)
      unsafe pthread_mutex_destroy(system)
    #endif
    unsafe system.deallocate()
  }

  /// Runs `body` with the value, exclusively. Not recursive; never call out, wait or write to a peer inside.
  ///
  /// Inlinable, because other modules would call it without knowing its types, which costs more than the lock.
  @inlinable
  package func withLock<Answer, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Answer
  ) throws(Failure) -> sending Answer {
    acquire()
    defer { release() }
    return try unsafe body(&value)
  }

  @usableFromInline
  func acquire() {
    #if canImport(Darwin)
      unsafe os_unfair_lock_lock(system)
    #else
      unsafe pthread_mutex_lock(system)
    #endif
  }

  @usableFromInline
  func release() {
    #if canImport(Darwin)
      unsafe os_unfair_lock_unlock(system)
    #else
      unsafe pthread_mutex_unlock(system)
    #endif
  }
}
