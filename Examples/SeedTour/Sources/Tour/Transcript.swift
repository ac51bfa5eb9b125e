import Synchronization

/// What happened, line by line in the order it was written, and the callers that wait for a line.
final class Transcript: Sendable {
  private typealias Waiter = (isDone: @Sendable ([String]) -> Bool, continuation: CheckedContinuation<Void, any Error>)
  private struct State {
    var lines: [String] = []
    var isClosed = false
    var waiters: [Int: Waiter] = [:]
    var waitersSoFar = 0
  }
  private let state = Mutex(State())
  private let prints: Bool

  init(prints: Bool = false) {
    self.prints = prints
  }

  var lines: [String] { state.withLock { $0.lines } }

  func tell(_ line: String) {
    let due = state.withLock { state in
      state.lines.append(line)
      // Inside the lock, so that lines of two threads are printed in the order they are kept.
      if prints { print("   \(line)") }
      return Self.takeDue(&state)
    }
    for continuation in due { continuation.resume() }
  }

  /// Nothing follows: callers that still wait get an error.
  func close() {
    let waiters = state.withLock { state in
      state.isClosed = true
      defer { state.waiters = [:] }
      return state.waiters.values.map(\.continuation)
    }
    for continuation in waiters { continuation.resume(throwing: TourFailure("what was waited for did not happen")) }
  }

  /// Returns when the line has been written so many times.
  func wait(for line: String, times: Int = 1) async throws {
    try await wait { lines in lines.count { $0 == line } >= times }
  }

  /// Returns when the condition holds for what has been written.
  /// - Throws: `TourFailure` when it can no longer hold, `CancellationError`.
  func wait(until isDone: @escaping @Sendable ([String]) -> Bool) async throws {
    let number = state.withLock { state in
      state.waitersSoFar += 1
      return state.waitersSoFar
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let isCancelled = Task.isCancelled
        let answer = state.withLock { state -> Result<Void, any Error>? in
          if isDone(state.lines) { return .success(()) }
          if isCancelled { return .failure(CancellationError()) }
          if state.isClosed { return .failure(TourFailure("what was waited for did not happen")) }
          state.waiters[number] = (isDone, continuation)
          return nil
        }
        if let answer { continuation.resume(with: answer) }
      }
    } onCancel: {
      let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
      waiter?.continuation.resume(throwing: CancellationError())
    }
  }

  private static func takeDue(_ state: inout State) -> [CheckedContinuation<Void, any Error>] {
    let due = state.waiters.filter { $0.value.isDone(state.lines) }
    for number in due.keys { state.waiters[number] = nil }
    return due.values.map(\.continuation)
  }
}
