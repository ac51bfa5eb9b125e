internal import CMartletSystem
internal import MartletRuntime
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A detached thread that runs one closure. The only place that makes threads.
package enum LoopThread {
  private final class Body {
    let run: @Sendable () -> Void
    let ended: ThreadGate?

    init(_ ended: ThreadGate?, _ run: @escaping @Sendable () -> Void) {
      self.ended = ended
      self.run = run
    }
  }

  /// Names the calling thread, unique among those alive.
  static var currentID: UInt {
    #if canImport(Darwin)
      return unsafe UInt(bitPattern: pthread_self())
    #else
      return UInt(pthread_self())
    #endif
  }

  /// Starts a thread; false when the system has none left.
  package static func start(name: String, _ run: @escaping @Sendable () -> Void) -> Bool {
    start(name: name, opening: nil, run)
  }

  /// Starts a thread that opens `ended` after everything that `run` holds has been released.
  static func start(name: String, opening ended: ThreadGate?, _ run: @escaping @Sendable () -> Void) -> Bool {
    let body = unsafe Unmanaged.passRetained(
      Body(ended) {
        // The system cuts names at 15 bytes.
        unsafe martlet_name_thread(String(name.prefix(15)))
        // Our own sends ask for no signal each time; libraries that write for us, such as the TLS of an older libcurl,
        // do not.
        WriteSignals.blockInThread()
        run()
      })
    #if canImport(Darwin)
      var thread: pthread_t?
    #else
      var thread = pthread_t()
    #endif
    // The retained body is taken over by the thread, or released here when there is none.
    let result = unsafe pthread_create(
      &thread, nil,
      { argument in
        if let argument = unsafe argument {
          var body: Body? = unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
          let ended = body?.ended
          body?.run()
          body = nil
          ended?.open()
        }
        return nil
      }, body.toOpaque())
    guard result == 0 else {
      unsafe body.release()
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

/// A gate that opens once and lets every waiting thread through.
final class ThreadGate: Sendable {
  private let isOpen = Atomic<Bool>(false)

  func open() {
    isOpen.store(true, ordering: .releasing)
  }

  /// Blocks the calling thread until `open`. Only used when a process or a test ends, so it may look a few hundred
  /// times a second.
  func wait() {
    while !isOpen.load(ordering: .acquiring) { usleep(2_000) }
  }
}

/// Something watched by a loop that must let go when the loop stops.
package protocol LoopOwned: AnyObject {
  func loopStops()
}
