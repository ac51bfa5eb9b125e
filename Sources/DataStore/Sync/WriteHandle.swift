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

  /// The write will go no further.
  public struct Ended: Error, Sendable, Hashable, CustomStringConvertible {
    /// Why.
    public enum Reason: Sendable, Hashable {
      /// The server refused it; it is among `rejectedWrites()`.
      case rejected(RejectedWrite.Reason)
      /// Another write made it unnecessary: there is nothing to send, or a conflict was resolved without it.
      case superseded
      /// The store was cleared before the server had it, or before the feed had passed it.
      case cleared
      /// The store was closed. The write is in its file and is sent when the store is opened again.
      case closed
      /// The store has no server.
      case localOnly
      /// The server has gone back to an older copy of its data. It had the write; whether the copy has it is not known.
      case serverRestored
      /// The task that waited was cancelled; the write itself continues.
      case cancelled
    }

    /// Why it ended.
    public let reason: Reason
    /// Why the server refused it; nil for other ends.
    public var rejection: RejectedWrite.Reason? {
      if case .rejected(let reason) = reason { reason } else { nil }
    }

    /// The reason in words.
    public var description: String {
      switch reason {
      case .rejected(let reason): "the server refused the write: \(reason)"
      case .superseded: "another write has made it unnecessary"
      case .cleared: "the store was cleared before the write had come so far"
      case .closed: "the store was closed before the server had the write"
      case .localOnly: "the store has no server"
      case .serverRestored: "the server runs on an older copy of its data, which may not have the write"
      case .cancelled: "the task that waited was cancelled; the write continues"
      }
    }
  }

  private struct Waiter {
    var number: Int
    var stage: Stage
    var continuation: CheckedContinuation<Result<Void, Ended>, Never>
  }

  private struct State {
    var number: Int64
    var stage = Stage.local
    var end: Ended?
    var waiters: [Waiter] = []
    var lastWaiter = 0
  }

  private let state: Lock<State>

  init(_ write: Int64) { state = Lock(State(number: write)) }

  /// The write's number in its store, by which events and `rejectedWrites()` name it; several saves of a record that
  /// were not sent yet have one number. A write that is made again after a conflict, and those of its record that wait
  /// behind it, get new ones. A save that changed nothing has the number of the last write of its record that waits;
  /// zero where none does, and it has reached every step then.
  public var write: Int64 { state.withLock { $0.number } }

  /// The step it has reached.
  public var stage: Stage { state.withLock { $0.stage } }

  /// Why it goes no further; nil while it may.
  public var end: Ended? { state.withLock { $0.end } }

  /// Returns when the write has reached `stage`; at once when it has.
  /// - Throws: `Ended` when it never will, and when the waiting task is cancelled.
  public func reached(_ stage: Stage) async throws(Ended) {
    let number = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    let result: Result<Void, Ended> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isCancelled = Task.isCancelled
        let known = state.withLock { state -> Result<Void, Ended>? in
          if state.stage >= stage { return .success(()) }
          if let end = state.end { return .failure(end) }
          if isCancelled { return .failure(Ended(reason: .cancelled)) }
          state.waiters.append(Waiter(number: number, stage: stage, continuation: continuation))
          return nil
        }
        if let known { continuation.resume(returning: known) }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
      }
      waiter?.continuation.resume(returning: .failure(Ended(reason: .cancelled)))
    }
    try result.get()
  }

  func renumber(_ number: Int64) { state.withLock { $0.number = number } }

  func move(to stage: Stage) {
    let ready = state.withLock { state in
      state.stage = max(state.stage, stage)
      let reached = state.stage
      defer { state.waiters.removeAll { $0.stage <= reached } }
      return state.waiters.filter { $0.stage <= reached }
    }
    for waiter in ready { waiter.continuation.resume(returning: .success(())) }
  }

  func end(_ reason: Ended.Reason) {
    let end = Ended(reason: reason)
    let waiters = state.withLock { state in
      guard state.end == nil else { return state.waiters.filter { _ in false } }
      state.end = end
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.continuation.resume(returning: .failure(end)) }
  }
}
