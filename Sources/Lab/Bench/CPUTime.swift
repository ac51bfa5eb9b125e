#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// What a piece of work cost.
struct CPUTime {
  /// Processor time of all threads, user and system, in nanoseconds.
  var processor: Int64 = 0
  /// Time that passed, in nanoseconds.
  var elapsed: Int64 = 0

  static func now() -> CPUTime {
    CPUTime(processor: read(CLOCK_PROCESS_CPUTIME_ID), elapsed: read(CLOCK_MONOTONIC))
  }

  static func - (end: CPUTime, start: CPUTime) -> CPUTime {
    CPUTime(processor: end.processor - start.processor, elapsed: end.elapsed - start.elapsed)
  }

  static func += (sum: inout CPUTime, part: CPUTime) {
    sum.processor += part.processor
    sum.elapsed += part.elapsed
  }

  private static func read(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    // The pointer is valid for the call; both clocks exist everywhere.
    _ = unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// Runs `body` `count` times after a tenth as much warming up, and answers nanoseconds of processor time for one.
  static func each(_ count: Int, _ body: () throws -> Void) rethrows -> Double {
    for _ in 0..<(count / 10 + 1) { try body() }
    let start = now()
    for _ in 0..<count { try body() }
    return Double((now() - start).processor) / Double(count)
  }
}
