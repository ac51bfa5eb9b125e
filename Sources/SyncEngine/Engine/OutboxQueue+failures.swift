internal import MartletVocabulary

// What becomes of the first write when it has failed, and of writes that the store has taken or given up.

extension OutboxQueue {
  enum Failed {
    /// It is sent again after a while.
    case later
    /// New credentials are needed first.
    case refresh
    case reject(DeadLetter.Reason)
    /// It met this record.
    case resolve(ServerImage)
  }

  mutating func failed(
    _ failure: SyncFailure, _ now: Instant, _ configuration: SyncConfiguration, _ random: inout SeededRandom
  ) -> Failed {
    switch failure {
    case .faulted(let code, let message) where faults + 1 >= configuration.faultedAttempts:
      return .reject(.refused(code: code, message: message))
    case .network, .overloaded, .faulted:
      if case .faulted = failure { noteFault() }
      retry(at: now + configuration.retry.delay(after: failures + 1, retryAfter: failure.retryAfter, using: &random))
      return .later
    case .unauthorized where !hasRefreshed, .forbidden where !hasRefreshed:
      refresh()
      return .refresh
    // Without credentials nothing is known of the write, which may have been applied: it waits for others.
    case .unauthorized:
      retryRefreshing(at: now + configuration.retry.delay(after: failures + 1, retryAfter: nil, using: &random))
      return .later
    case .forbidden: return .reject(.unauthorized)
    case .conditionFailed: return .reject(.conditionFailed)
    case .refused(let code, let message): return .reject(.refused(code: code, message: message))
    case .conflict(let image):
      awaitResolution(image)
      return .resolve(image)
    }
  }

  /// The first retry is made at once, as the original's only one. The record may conflict again and again.
  mutating func waitAfterConflict(_ now: Instant, _ retry: RetryDelay, _ random: inout SeededRandom) {
    let repeats = conflicts - 1
    if repeats > 0 { wait(until: now + retry.delay(after: repeats, retryAfter: nil, using: &random)) }
  }

  /// The store changed its outbox. Returns what is to be announced.
  mutating func take(_ write: QueuedWrite) -> [SyncHubEvent] {
    switch write {
    case .added(let number, let model): append(number, model: model)
    case .removed(let numbers): for number in numbers { remove(number) }
    case .refused(let numbers, let first):
      for number in numbers { remove(number) }
      return numbers.map { .outboxMutationFailed(number: $0, .dependsOn(number: first)) }
    }
    return []
  }
}
