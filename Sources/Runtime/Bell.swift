package import MartletVocabulary

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Counts rings; a thread waits until there is one and takes it.
///
/// `@unchecked Sendable` holds because `rings` is read and written under the system's mutex only, and mutex and
/// condition live at addresses of their own that never move.
@safe
package final class Bell: @unchecked Sendable {
  private var rings = 0
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>

  package init() {
    unsafe mutex = .allocate(capacity: 1)
    unsafe pthread_mutex_init(mutex, nil)
    unsafe condition = .allocate(capacity: 1)
    #if canImport(Darwin)
      unsafe pthread_cond_init(condition, nil)
    #else
      // The calendar clock, which is the default, may jump while a thread waits.
      var attributes = pthread_condattr_t()
      unsafe pthread_condattr_init(&attributes)
      unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      unsafe pthread_cond_init(condition, &attributes)
      unsafe pthread_condattr_destroy(&attributes)
    #endif
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe condition.deallocate()
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  package func ring() {
    unsafe pthread_mutex_lock(mutex)
    rings += 1
    unsafe pthread_cond_signal(condition)
    unsafe pthread_mutex_unlock(mutex)
  }

  /// Blocks the calling thread until there is a ring, and takes it.
  package func wait() {
    unsafe pthread_mutex_lock(mutex)
    while rings == 0 { unsafe pthread_cond_wait(condition, mutex) }
    rings -= 1
    unsafe pthread_mutex_unlock(mutex)
  }

  /// Blocks the calling thread until there is a ring, and takes it; returns false when there is none before `deadline`
  /// of the monotonic clock.
  package func wait(until deadline: Instant) -> Bool {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while rings == 0 {
      let rest = deadline.nanoseconds &- MonotonicClock.now().nanoseconds
      guard rest > 0 else { return false }
      #if canImport(Darwin)
        var time = timespec(tv_sec: Int(rest / 1_000_000_000), tv_nsec: Int(rest % 1_000_000_000))
        _ = unsafe pthread_cond_timedwait_relative_np(condition, mutex, &time)
      #else
        let end = deadline.nanoseconds
        var time = timespec(tv_sec: Int(end / 1_000_000_000), tv_nsec: Int(end % 1_000_000_000))
        _ = unsafe pthread_cond_timedwait(condition, mutex, &time)
      #endif
    }
    rings -= 1
    return true
  }
}
