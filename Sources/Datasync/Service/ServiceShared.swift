internal import MartletJSONTree
internal import MartletRuntime

/// What the service shows on every thread.
final class ServiceShared: Sendable {
  private struct Inner {
    var state = DatasyncState.idle
    var timeOffset: Duration?
    var isEnabled = true
    var waiters: [Int: AsyncStream<DatasyncState>.Continuation] = [:]
    var nextWaiter = 0
    var lastListener: Int64 = 0
    var queued = 0
  }
  private let inner = Lock(Inner())

  var state: DatasyncState { inner.withLock { $0.state } }
  var timeOffset: Duration? { inner.withLock { $0.timeOffset } }
  var isEnabled: Bool { inner.withLock { $0.isEnabled } }

  func setEnabled(_ isEnabled: Bool) { inner.withLock { $0.isEnabled = isEnabled } }
  func setTimeOffset(_ offset: Duration) { inner.withLock { $0.timeOffset = offset } }

  func nextListener() -> ListenerID {
    inner.withLock { inner in
      inner.lastListener += 1
      return ListenerID(inner.lastListener)
    }
  }

  /// Room for one more write in the queue.
  func takeSlot(most: Int) -> Bool {
    inner.withLock { inner in
      guard inner.queued < most else { return false }
      inner.queued += 1
      return true
    }
  }

  func freeSlot() { inner.withLock { $0.queued = max(0, $0.queued - 1) } }

  func move(to state: DatasyncState) {
    let told = inner.withLock { inner -> [AsyncStream<DatasyncState>.Continuation] in
      guard inner.state != state, inner.state != .shutDown else { return [] }
      inner.state = state
      return Array(inner.waiters.values)
    }
    for continuation in told { continuation.yield(state) }
    if state == .shutDown { for continuation in told { continuation.finish() } }
  }

  func states() -> AsyncStream<DatasyncState> {
    AsyncStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
      let (number, state) = inner.withLock { inner -> (Int, DatasyncState) in
        inner.nextWaiter += 1
        inner.waiters[inner.nextWaiter] = continuation
        continuation.yield(inner.state)
        return (inner.nextWaiter, inner.state)
      }
      if state == .shutDown { continuation.finish() }
      continuation.onTermination = { [weak self] _ in
        let gone = self?.inner.withLock { $0.waiters.removeValue(forKey: number) }
        withExtendedLifetime(gone) {}
      }
    }
  }
}
