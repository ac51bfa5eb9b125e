package import MartletSimulation
internal import MartletVocabulary

/// Time that a test owns: it passes only when nothing else is left to do, so that minutes of waiting take no time and
/// every run of a test is the same.
///
///     let time = VirtualTime()
///     let server = ScriptedServer(time)
///     try time.run { … }             // tasks, streams and clients in here live in virtual time
///     time.advance(by: .seconds(30)) // or let time pass from outside
///
/// Use it from one thread, and from inside `run` only with structured tasks (`async let`, task groups). Work handed in
/// by other threads still runs, but its order is no longer the seed's. `run` keeps the thread it is called on: a body
/// that waits for code of the main actor while it runs on the main thread is `Stuck`.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
public final class VirtualTime: Sendable {
  /// Nothing more can happen although the body has not returned: it waits for something that will not come.
  public struct Stuck: Error, Sendable, CustomStringConvertible {
    /// Time that had passed by then.
    public var elapsed: Duration
    /// What happened, in words.
    public var description: String {
      "the body waits, and nothing is left that could happen (after \(elapsed)); if it waits for the main actor, that "
        + "cannot run meanwhile"
    }
  }

  package let executor: SimulatedExecutor
  package let loop: SimulatedLoop

  /// - Parameter seed: chooses the order of what could happen in any order, and the jitter of reconnects.
  public init(seed: UInt64 = 1) {
    executor = SimulatedExecutor(seed: seed)
    loop = executor.makeLoop("virtual time")
  }

  /// Time that has passed since the beginning.
  public var elapsed: Duration { executor.now - .zero }

  /// Runs `body` and all it leads to until it returns; blocks the caller meanwhile.
  /// - Throws: what `body` throws; `Stuck` when it can never return. A client that pings keeps time going, so beside
  ///   one that is found out only after five million pieces of work: give waits a limit, as `accept` and `expect` do.
  public func run<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) throws -> Result {
    do {
      return try executor.run(body)
    } catch is SimulationStuck {
      throw Stuck(elapsed: elapsed)
    }
  }

  /// Runs everything that is due within `duration` from now. From outside `run`.
  public func advance(by duration: Duration) {
    executor.run(for: duration)
  }

  /// Lets `duration` pass for the calling task. Inside `run`.
  public func sleep(for duration: Duration) async {
    precondition(executor.isOnPump, "virtual time passes for tasks inside VirtualTime.run")
    await executor.sleep(duration)
  }
}
