import MartletPublishers
import MartletRuntime

/// Records what one subscriber receives, and lets a test wait for it.
final class Watcher<Value: Sendable>: Sendable {
  enum End: Sendable { case finished, failure(any Error) }

  private struct Notes {
    var values: [Value] = []
    var end: End?
    var waiters: [(isDone: @Sendable ([Value], Bool) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
  }
  private let notes = Lock(Notes())

  var values: [Value] { notes.withLock { $0.values } }
  var end: End? { notes.withLock { $0.end } }
  var isFinished: Bool { if case .finished = end { true } else { false } }
  var failure: (any Error)? { if case .failure(let error) = end { error } else { nil } }

  func take(_ value: Value) { note { $0.values.append(value) } }

  func take(_ completion: Subscribers.Completion<any Error>) {
    switch completion {
    case .finished: note { $0.end = .finished }
    case .failure(let error): note { $0.end = .failure(error) }
    }
  }

  private func note(_ change: (inout sending Notes) -> Void) {
    let due = notes.withLock { notes -> [CheckedContinuation<Void, Never>] in
      change(&notes)
      let due = notes.waiters.filter { $0.isDone(notes.values, notes.end != nil) }.map(\.continuation)
      notes.waiters.removeAll { $0.isDone(notes.values, notes.end != nil) }
      return due
    }
    for continuation in due { continuation.resume() }
  }

  /// Returns when so many values have come, or the end has.
  func wait(for count: Int) async {
    await wait { values, isOver in values.count >= count || isOver }
  }

  /// Returns when the end has come.
  func waitForEnd() async {
    await wait { _, isOver in isOver }
  }

  /// Returns when the condition holds for what has come.
  func wait(until isDone: @escaping @Sendable ([Value], Bool) -> Bool) async {
    await withCheckedContinuation { continuation in
      let isDue = notes.withLock { notes -> Bool in
        if isDone(notes.values, notes.end != nil) { return true }
        notes.waiters.append((isDone, continuation))
        return false
      }
      if isDue { continuation.resume() }
    }
  }
}

extension Publisher where Output: Sendable, Failure == any Error {
  /// Attaches a watcher.
  func watch(_ watcher: Watcher<Output>) -> AnyCancellable {
    sink {
      watcher.take($0)
    } receiveValue: {
      watcher.take($0)
    }
  }
}
