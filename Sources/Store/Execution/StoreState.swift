/// The writes that wait for a store's writer, and whether it knows of them.
struct StoreState {
  var queue: WriteQueue<SubmittedWrite>
  /// Whether a drain was given to the writer and has not begun.
  var isScheduled = false
  var isClosed = false

  /// Queues a write, or returns why it is refused.
  mutating func take(_ write: SubmittedWrite, _ limits: StoreLimits) -> StoreError? {
    if isClosed { return StoreError(.closed, "the store is closed") }
    let size = write.request.size
    guard queue.hasRoom(for: size) else {
      return StoreError(
        .overloaded,
        "more than \(limits.queuedWrites) writes, or \(limits.queuedOperations) operations, are waiting")
    }
    queue.append(write, size: size, number: write.request.writeNumber)
    return nil
  }

  /// Whether the writer has to be given a drain, which counts as given then.
  mutating func schedule(_ isStaging: Bool = false) -> Bool {
    if isScheduled || queue.isEmpty && !isStaging { return false }
    isScheduled = true
    return true
  }

  /// The writes of the next group, for a drain that begins.
  mutating func next(takesLarge: Bool) -> [SubmittedWrite] {
    isScheduled = false
    return queue.next(takesLarge: takesLarge)
  }
}
