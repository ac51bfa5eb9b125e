internal import MartletRuntime

/// How far a write is on its way to the server.
///
///     let handle = try await store.submit(post)
///     try await handle.reached(.durable)
public final class WriteHandle: Sendable {
  /// The steps, in order.
  public enum Stage: Int, Sendable, Hashable, Comparable {
    /// On this machine's disk.
    case local
    /// Sent once at least.
    case sent
    /// The server has it on disk.
    case durable
    /// This store has seen everything on the server up to it.
    case seen

    /// By their order.
    public static func < (left: Stage, right: Stage) -> Bool { left.rawValue < right.rawValue }
  }

  /// The write was refused, or another write took its place.
  public struct Ended: Error, Sendable, Hashable {
    /// Why the server refused it; nil for a write that another one has made unnecessary.
    public let rejection: RejectedWrite.Reason?
  }

  private struct State {
    var stage = Stage.local
    var end: Ended?
    var waiters: [(stage: Stage, continuation: CheckedContinuation<Result<Void, Ended>, Never>)] = []
  }

  /// The write's number in its store; several saves of a record that were not sent yet have one number.
  public let write: Int64
  private let state: Lock<State>

  init(_ write: Int64) {
    self.write = write
    state = Lock(State())
  }

  /// The step it has reached.
  public var stage: Stage { state.withLock { $0.stage } }

  /// Returns when the write has reached `stage`; at once when it has.
  /// - Throws: `Ended` when it never will. A cancelled task waits on all the same.
  public func reached(_ stage: Stage) async throws(Ended) {
    let result: Result<Void, Ended> = await withCheckedContinuation { continuation in
      let known = state.withLock { state -> Result<Void, Ended>? in
        if state.stage >= stage { return .success(()) }
        if let end = state.end { return .failure(end) }
        state.waiters.append((stage, continuation))
        return nil
      }
      if let known { continuation.resume(returning: known) }
    }
    try result.get()
  }

  func move(to stage: Stage) {
    let ready = state.withLock { state in
      state.stage = max(state.stage, stage)
      let reached = state.stage
      defer { state.waiters.removeAll { $0.stage <= reached } }
      return state.waiters.filter { $0.stage <= reached }
    }
    for waiter in ready { waiter.continuation.resume(returning: .success(())) }
  }

  func end(_ rejection: RejectedWrite.Reason?) {
    let end = Ended(rejection: rejection)
    let waiters = state.withLock { state in
      guard state.stage < .durable, state.end == nil else { return state.waiters.filter { _ in false } }
      state.end = end
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.continuation.resume(returning: .failure(end)) }
  }
}
