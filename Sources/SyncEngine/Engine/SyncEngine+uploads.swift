internal import MartletVocabulary

extension SyncEngine {
  /// A write that the store has taken into the outbox. Its model is known to the store, which gives it with the event.
  mutating func enqueued(_ write: QueuedWrite) {
    switch write {
    case .added(let number, let model): outbox.append(number, model: model)
    case .removed(let numbers): for number in numbers { outbox.remove(number) }
    case .refused(let numbers, let first):
      for number in numbers {
        outbox.remove(number)
        actions.append(.hub(.outboxMutationFailed(number: number, .dependsOn(number: first))))
      }
    }
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
    switch failure {
    case .faulted(let code, let message) where outbox.faults + 1 >= configuration.faultedAttempts:
      reject(number, .refused(code: code, message: message))
    case .network, .overloaded, .faulted:
      if case .faulted = failure { outbox.noteFault() }
      let delay = configuration.retry.delay(after: outbox.failures + 1, retryAfter: failure.retryAfter, using: &random)
      outbox.retry(at: now + delay)
      actions.append(.hub(.failed(failure)))
    case .unauthorized where !outbox.hasRefreshed, .forbidden where !outbox.hasRefreshed:
      outbox.refresh()
      actions.append(.refreshCredentials(generation: generation))
    // Without credentials nothing is known of the write, which may have been applied: it waits for others.
    case .unauthorized:
      let delay = configuration.retry.delay(after: outbox.failures + 1, retryAfter: nil, using: &random)
      outbox.retryRefreshing(at: now + delay)
      actions.append(.hub(.failed(failure)))
    case .forbidden: reject(number, .unauthorized)
    case .conditionFailed:
      actions.append(.hub(.conditionalSaveFailed(number: number)))
      reject(number, .conditionFailed)
    case .refused(let code, let message): reject(number, .refused(code: code, message: message))
    // A record that was deleted is not written again, whatever the application would answer.
    case .conflict(let image) where image.record == nil:
      outbox.awaitResolution(image)
      actions.append(.resolve(number: number, .applyRemote, image, newNumber: number))
    case .conflict(let image):
      outbox.awaitResolution(image)
      actions.append(.askConflict(number: number, image))
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
      // The first retry is made at once, as the original's only one. The record may conflict again and again.
      let repeats = outbox.conflicts - 1
      if repeats > 0 {
        outbox.wait(until: now + configuration.retry.delay(after: repeats, retryAfter: nil, using: &random))
      }
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
