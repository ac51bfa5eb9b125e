#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Starts threads by the system's interface, whose types differ: `pthread_t` is a number on Linux and a pointer, nil
/// before the start, on Darwin.
enum SystemThread {
  private final class Body {
    let run: () -> Void
    init(_ run: @escaping () -> Void) { self.run = run }
  }

  /// Runs `body` on a new, detached thread.
  /// - Returns: Whether there is a thread; false when the system has none left.
  static func start(_ body: @escaping () -> Void) -> Bool {
    // The new thread takes over the retain made here; without a thread it is given back.
    let context = unsafe Unmanaged.passRetained(Body(body))
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
          unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
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
