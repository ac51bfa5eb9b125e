#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// How much a thread gives way to the process's others when the processors are busy.
package enum ThreadNiceness {
  /// Raises the calling thread's by so many steps (`nice`), to 19 at most; zero changes nothing. A thread of a process
  /// without privileges cannot take it back. Darwin has no steps for threads: any number is the class `utility` there.
  package static func raise(by steps: Int) {
    guard steps > 0 else { return }
    #if canImport(Darwin)
      pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0)
    #else
      // POSIX says that 0 is the calling process; on Linux, where each thread has its own, it is the calling thread.
      let present = getpriority(Self.thread, 0)
      // Raising needs no privilege and does not fail.
      setpriority(Self.thread, 0, min(19, present + CInt(clamping: steps)))
    #endif
  }

  #if !canImport(Darwin)
    /// PRIO_PROCESS, which is a number in one C library and a value of an enumeration in another.
    private static let thread: CInt = 0
  #endif
}
