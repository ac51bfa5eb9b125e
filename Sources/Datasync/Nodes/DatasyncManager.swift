internal import MartletJSONTree
internal import MartletRuntime

/// Owns the subscriptions of the nodes that are made with it: they end when it goes, without a call. Meant to live as
/// long as what shows the data.
public final class DatasyncManager: Sendable {
  /// The service that made it.
  public let service: DatasyncService
  /// What stays of the values of its subscriptions when they have ended, unless a subscription says otherwise.
  public let defaultCompletedSubscriptionPolicy: DatasyncCompletedSubscriptionPolicy
  private let kept = Lock<[ObjectIdentifier: DatasyncSubscription]>([:])
  private let callbacks = Lock<[(callback: DatasyncCallback, path: TreePath, subscription: DatasyncSubscription)]>([])

  init(_ service: DatasyncService, _ policy: DatasyncCompletedSubscriptionPolicy) {
    self.service = service
    defaultCompletedSubscriptionPolicy = policy
  }

  deinit {
    for subscription in kept.withLock({ Array($0.values) }) { subscription.core.endImplicitly() }
  }

  /// The node at a path; nil when the path has a forbidden character or is too deep. Empty segments and `.` count for
  /// nothing, `..` goes up.
  public func node(for path: String) -> DatasyncNode? { try? nodeThrows(for: path) }

  /// The node at a path.
  /// - Throws: `invalid`, naming the segment.
  public func nodeThrows(for path: String) throws(DatasyncError) -> DatasyncNode {
    do throws(TreeError) { return DatasyncNode(try TreePath(path), self) } catch { throw DatasyncError(error) }
  }

  /// The node at a path; nil when the path cannot be one.
  public static func / (manager: DatasyncManager, path: String) -> DatasyncNode? { manager.node(for: path) }

  func keep(_ subscription: DatasyncSubscription) {
    let key = ObjectIdentifier(subscription)
    kept.withLock { $0[key] = subscription }
    subscription.core.atEnd { [weak self] in
      // Released outside the lock: it ends itself when it goes.
      let gone = self?.kept.withLock { $0.removeValue(forKey: key) }
      withExtendedLifetime(gone) {}
    }
  }

  func register(_ callback: DatasyncCallback, _ path: TreePath, _ subscription: DatasyncSubscription) {
    callbacks.withLock { $0.append((callback, path, subscription)) }
  }

  func unsubscribe(_ callback: DatasyncCallback, _ path: TreePath) -> Int {
    let ended = callbacks.withLock { entries in
      let ended = entries.filter { $0.callback === callback && $0.path == path }
      entries.removeAll { $0.callback === callback && $0.path == path }
      return ended.map(\.subscription)
    }
    for subscription in ended { subscription.cancel() }
    return ended.count
  }
}
