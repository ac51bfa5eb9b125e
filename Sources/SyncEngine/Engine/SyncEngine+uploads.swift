internal import MartletVocabulary

extension SyncEngine {
  /// A write that the store has taken into the outbox. Its model is known to the store, which gives it with the event.
  mutating func enqueued(_ write: QueuedWrite) {
    actions += outbox.take(write).map { .hub($0) }
    actions.append(.hub(.outboxStatus(isEmpty: outbox.isEmpty)))
  }

  /// Sends the first write when nothing is in flight and its model has been synced once, or as far as the cap allows.
  mutating func upload() {
    guard phase == .live || phase == .syncing, outbox.state == .idle, let write = outbox.first,
      progress.indices.contains(write.model),
      progress[write.model].lastSync != nil || truncated.contains(write.model)
    else { return }
    outbox.takeOff()
    actions += [
      .upload(generation: generation, number: write.number), .progress(number: write.number, .sent),
      .hub(.outboxMutationEnqueued(number: write.number)),
    ]
  }

  mutating func uploaded(_ number: Int64, _ image: ServerImage?, _ position: Int64) {
    guard outbox.state == .inFlight, outbox.first?.number == number else { return }
    outbox.finish(number, durableAt: position)
    actions += [
      .acknowledge(number: number, image), .progress(number: number, .durable),
      .hub(.outboxMutationProcessed(number: number)), .hub(.outboxStatus(isEmpty: outbox.isEmpty)),
    ]
    for number in outbox.seen(upTo: self.position) { actions.append(.progress(number: number, .seen)) }
  }

  mutating func uploadFailed(_ number: Int64, _ failure: SyncFailure, _ now: Instant) {
    guard outbox.state == .inFlight, outbox.first?.number == number else { return }
    switch outbox.failed(failure, now, configuration, &random) {
    case .later: actions.append(.hub(.failed(failure)))
    case .refresh: actions.append(.refreshCredentials(generation: generation))
    case .reject(let reason):
      if reason == .conditionFailed { actions.append(.hub(.conditionalSaveFailed(number: number))) }
      reject(number, reason)
    // A record that was deleted is not written again, whatever the application would answer.
    case .resolve(let image) where image.record == nil && image.hidden == nil:
      actions.append(.resolve(number: number, .applyRemote, image, newNumber: number))
    case .resolve(let image): actions.append(.askConflict(number: number, image))
    }
  }

  private mutating func reject(_ number: Int64, _ reason: DeadLetter.Reason) {
    outbox.finish(number)
    actions += [
      .reject(number: number, reason), .hub(.outboxMutationFailed(number: number, reason)),
      .hub(.outboxStatus(isEmpty: outbox.isEmpty)),
    ]
  }

  mutating func resolved(_ number: Int64, _ resolution: RecordReplica.Resolution, _ newNumber: Int64) {
    guard case .resolving(let image) = outbox.state, outbox.first?.number == number else { return }
    actions.append(.resolve(number: number, resolution, image, newNumber: newNumber))
  }

  /// The write stays first until the store says what became of it: a later write of its record must not overtake it.
  mutating func settled(_ number: Int64, _ settlement: Settlement, _ now: Instant) {
    guard case .resolving = outbox.state, outbox.first?.number == number else { return }
    switch settlement {
    case .retried(let newNumber):
      outbox.replace(number, with: newNumber)
      outbox.waitAfterConflict(now, configuration.retry, &random)
    case .refused:
      outbox.finish(number)
      actions += [.hub(.outboxMutationFailed(number: number, .conflict)), .hub(.outboxStatus(isEmpty: outbox.isEmpty))]
    case .unneeded:
      outbox.finish(number)
      actions.append(.hub(.outboxStatus(isEmpty: outbox.isEmpty)))
    }
  }
}

/// What the store has made of the answer to a conflict.
package enum Settlement: Sendable, Hashable {
  /// The write is sent again under this number.
  case retried(as: Int64)
  /// It is a dead letter.
  case refused
  /// There is nothing left to do, as for the deletion of a record that the server has deleted.
  case unneeded
}

/// What a local write did to the outbox.
package enum QueuedWrite: Sendable, Hashable {
  case added(number: Int64, model: Int)
  /// Writes that were cancelled, or have got other numbers.
  case removed([Int64])
  /// Writes that were rejected with an earlier one of their record.
  case refused([Int64], with: Int64)
}
