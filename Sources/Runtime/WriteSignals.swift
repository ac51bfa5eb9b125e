#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Signals by which the system ends a process for a write that failed. Martlet's threads block them, so that the write
/// returns an error instead: SIGPIPE for a peer that is gone, SIGXFSZ for a file at the limit of its size.
package enum WriteSignals {
  /// Blocks them for the calling thread.
  package static func blockInThread() {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGPIPE)
    unsafe sigaddset(&signals, SIGXFSZ)
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// Ignores them in the whole process: for a program, never for a library.
  package static func ignoreInProcess() {
    _ = signal(SIGPIPE, SIG_IGN)
    _ = signal(SIGXFSZ, SIG_IGN)
  }
}
