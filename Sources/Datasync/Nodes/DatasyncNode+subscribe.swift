public import Dispatch
internal import MartletJSONTree
internal import MartletRuntime

extension DatasyncNode {
  /// Calls `onEvent` on the main actor for each event of the types.
  ///
  /// ```swift
  /// contacts.subscribe(to: .childEvent) { event in
  ///   view.show(event.key, event.value.decoded(as: Contact.self))
  /// } onCompletion: { completion in
  ///   if case .revocation(let reason) = completion { print(reason) }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - childrenConstraint: the children concerned.
  ///   - stores: whether the node's manager owns the subscription; otherwise it ends with the last reference to what is
  ///     returned.
  ///   - excludesRevocations: `onCompletion` is not called for a revocation.
  ///   - acknowledgements: of which changes of children.
  ///   - onCompletion: called once, last. Types that cannot be subscribed, such as acknowledgements alone, are a
  ///     revocation with `request`.
  @discardableResult
  public func subscribe(
    to type: DatasyncEventType, childrenConstraint: DatasyncChildrenConstraint = .all, stores: Bool = true,
    excludesRevocations: Bool = false, acknowledgements: DatasyncAcknowledgements = .ofAllKinds,
    onEvent: @escaping @MainActor (DatasyncEvent) -> Void,
    onCompletion: (@MainActor (DatasyncCompletion) -> Void)? = nil
  ) -> DatasyncSubscription {
    let delivery = TreeCallbackDelivery(
      target: .mainActor(onEvent, onCompletion), excludesRevocations: excludesRevocations)
    return start(type, childrenConstraint.window, acknowledgements, stores, delivery)
  }

  /// Calls `onEvent` on a queue, in the queue's order, for each event of the types.
  @discardableResult
  public func subscribe(
    to type: DatasyncEventType, childrenConstraint: DatasyncChildrenConstraint = .all, stores: Bool = true,
    excludesRevocations: Bool = false, acknowledgements: DatasyncAcknowledgements = .ofAllKinds,
    queue: DispatchQueue, onEvent: @escaping @Sendable (DatasyncEvent) -> Void,
    onCompletion: (@Sendable (DatasyncCompletion) -> Void)? = nil
  ) -> DatasyncSubscription {
    let delivery = TreeCallbackDelivery(
      target: .queue(queue, onEvent, onCompletion), excludesRevocations: excludesRevocations)
    return start(type, childrenConstraint.window, acknowledgements, stores, delivery)
  }

  /// Subscribes a callback, which `unsubscribe` of this node ends.
  @discardableResult
  public func subscribe(
    to type: DatasyncEventType, window: DatasyncWindow = .all, _ callback: DatasyncCallback
  ) -> DatasyncSubscription {
    let delivery = TreeCallbackDelivery(
      target: .mainActor(callback.onEvent, callback.onCompletion), excludesRevocations: false)
    let subscription = start(type, window, .ofAllKinds, true, delivery)
    manager.register(callback, treePath, subscription)
    return subscription
  }

  /// Ends the subscriptions of a callback on this node; those on other nodes continue.
  /// - Returns: how many there were.
  @discardableResult
  public func unsubscribe(_ callback: DatasyncCallback) -> Int { manager.unsubscribe(callback, treePath) }

  /// The events as a sequence.
  ///
  /// - Throws: `invalid` for a window that cannot be one and for acknowledgements alone; `notConfigured`.
  public func events(
    _ type: DatasyncEventType, window: DatasyncWindow = .all,
    acknowledgements: DatasyncAcknowledgements = .ofAllKinds
  ) throws(DatasyncError) -> DatasyncEvents {
    let core = try service.core(type, treePath, window, acknowledgements)
    let subscription = DatasyncSubscription(core)
    core.belongs(to: manager, subscription)
    service.listen(core)
    return DatasyncEvents(subscription: subscription)
  }

  private func start(
    _ type: DatasyncEventType, _ window: DatasyncWindow, _ acknowledgements: DatasyncAcknowledgements,
    _ stores: Bool, _ delivery: TreeCallbackDelivery
  ) -> DatasyncSubscription {
    let (core, failure) = service.anyCore(type, treePath, window, acknowledgements)
    let subscription = DatasyncSubscription(core)
    core.belongs(to: manager, subscription)
    if stores { manager.keep(subscription) }
    if let failure {
      core.end(.revocation(reason: DatasyncRevocation(.request, failure.description)))
    } else {
      service.listen(core)
    }
    service.deliver(delivery, core)
    return subscription
  }
}
