#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Starts threads by the system's interface, whose types differ: `pthread_t` is a number on Linux and a pointer, nil
/// before the start, on Darwin. The only place that makes threads.
package enum SystemThread {
  private final class Body {
    var run: (() -> Void)?
    let then: () -> Void

    init(_ run: @escaping () -> Void, then: @escaping () -> Void) {
      self.run = run
      self.then = then
    }
  }

  /// Runs `body` on a new, detached thread on which a write that fails ends no process (`WriteSignals`).
  ///
  /// - Parameters:
  ///   - body: What the thread runs.
  ///   - then: Runs on the thread after everything that `body` holds has been released.
  /// - Returns: Whether there is a thread; false when the system has none left.
  package static func start(
    _ body: @escaping @Sendable () -> Void, then: @escaping @Sendable () -> Void = {}
  ) -> Bool {
    // The new thread takes over the retain made here; without a thread it is given back.
    let context = unsafe Unmanaged.passRetained(Body(body, then: then))
    #if canImport(Darwin)
      var thread: pthread_t?
    #else
      var thread = pthread_t()
    #endif
    let result = unsafe pthread_create(
      &thread, nil,
      { context in
        // Optional on Linux alone; the assignment takes both.
        let context: UnsafeMutableRawPointer? = unsafe context
        if let context = unsafe context {
          let body = unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue()
          WriteSignals.blockInThread()
          body.run?()
          body.run = nil
          body.then()
        }
        return nil
      }, context.toOpaque())
    guard result == 0 else {
      unsafe context.release()
      return false
    }
    #if canImport(Darwin)
      if let thread = unsafe thread { unsafe pthread_detach(thread) }
    #else
      pthread_detach(thread)
    #endif
    return true
  }
}
