internal import MartletJSONTree
internal import MartletRuntime
internal import MartletTreeClient
internal import MartletTreeWire

/// What one subscription has to deliver, between the service's loop and its consumer. Bounded: see `waitingEvents`.
final class TreeSubscriptionCore: Sendable {
  enum Step {
    case event(DatasyncEvent)
    case ended(DatasyncCompletion)
  }

  enum Batch {
    case events([DatasyncEvent])
    case ended(DatasyncCompletion)
  }

  private struct Inner {
    var events: [DatasyncEvent] = []
    var head = 0
    var completion: DatasyncCompletion?
    /// The revocation that becomes the completion when the events before it have been taken.
    var revocation: DatasyncCompletion?
    var consumer: CheckedContinuation<Void, Never>?
    var isReady = false
    /// Whether a consumer of batches has been shown it.
    var isReadyTaken = false
    var readyWaiters: [Int: CheckedContinuation<Void, any Error>] = [:]
    var nextWaiter = 0
    /// The kind of the last event of a child that the server had not accepted.
    var kinds: [TreeKey: TreeEvent.Kind] = [:]
    /// Set once; called at the end, outside the lock.
    var onEnd: (@Sendable () -> Void)?
    var policy = DatasyncCompletedSubscriptionPolicy.keepData
    var endedImplicitly = false
  }

  let id: ListenerID
  let path: TreePath
  let window: Window
  let type: DatasyncEventType
  private let acknowledgements: DatasyncAcknowledgements
  private let limit: Int
  private let inner = Lock(Inner())
  private let owner = Lock<WeakOwner>(WeakOwner())

  private struct WeakOwner {
    weak var manager: DatasyncManager?
    weak var handle: DatasyncSubscription?
  }

  init(
    _ id: ListenerID, at path: TreePath, _ window: Window, _ type: DatasyncEventType,
    _ acknowledgements: DatasyncAcknowledgements, limit: Int
  ) {
    (self.id, self.path, self.window, self.type) = (id, path, window, type)
    (self.acknowledgements, self.limit) = (acknowledgements, max(1, limit))
  }

  /// What the server is asked for.
  var query: TreeClient.Query { TreeClient.Query(path, window.isUnbounded ? .all : window) }

  /// Whether the server is to send values: what changes in a window is found out from its values.
  var needsValues: Bool { type.hasData || !window.isUnbounded }

  /// What stays of the value; of no effect once the subscription has ended.
  var policy: DatasyncCompletedSubscriptionPolicy {
    get { inner.withLock { $0.policy } }
    set { inner.withLock { if $0.completion == nil { $0.policy = newValue } } }
  }

  /// Whether the server has ended it; the events before that may still wait for the consumer.
  var isRevoked: Bool { inner.withLock { $0.revocation != nil } }

  /// Whether it ended with its manager or its last reference, not by a call.
  var endedImplicitly: Bool { inner.withLock { $0.endedImplicitly } }

  func endImplicitly() {
    inner.withLock { if $0.completion == nil { $0.endedImplicitly = true } }
    end(.cancellation)
  }

  func belongs(to manager: DatasyncManager, _ handle: DatasyncSubscription) {
    policy = manager.defaultCompletedSubscriptionPolicy
    owner.withLock { owner in
      owner.manager = manager
      owner.handle = handle
    }
  }

  /// Runs `body` once, when the subscription has ended; at once when it has.
  func atEnd(_ body: @escaping @Sendable () -> Void) {
    let isOver = inner.withLock { inner in
      if inner.completion != nil { return true }
      let earlier = inner.onEnd
      inner.onEnd = {
        earlier?()
        body()
      }
      return false
    }
    if isOver { body() }
  }

  var completion: DatasyncCompletion? { inner.withLock { $0.completion } }
  var isOpen: Bool { inner.withLock { $0.completion == nil } }
  var isCancelled: Bool {
    if case .cancellation? = completion { true } else { false }
  }

  // MARK: The service's side

  /// Takes an event of the engine, if it is one that was asked for.
  func receive(_ event: TreeEvent) {
    if event.kind == .cancelled {
      return end(.revocation(reason: DatasyncRevocation(server: event.reason ?? "revoked")))
    }
    guard let kind = kind(of: event) else { return }
    let (manager, handle) = owner.withLock { ($0.manager, $0.handle) }
    let hasData = type.hasData
    let made = DatasyncEvent(
      eventType: kind, value: DatasyncValue(hasData ? event.node : .empty, isAcknowledged: event.isAcknowledged),
      key: (event.key ?? path.key)?.text ?? "", previousChildKey: event.previousKey?.text,
      rejection: event.writeID.map { DatasyncRejection(writeID: $0, reason: event.reason ?? "") }, gap: nil,
      path: event.key.map(path.child) ?? path, manager: manager, source: handle, carriesData: hasData)
    append(made)
  }

  /// Takes a gap, if gaps were asked for.
  func receive(_ gap: TreePush.Gap) {
    guard let kind = type.gapKind else { return }
    let (manager, handle) = owner.withLock { ($0.manager, $0.handle) }
    append(
      DatasyncEvent(
        eventType: kind, value: DatasyncValue(.empty, isAcknowledged: true), key: path.key?.text ?? "",
        previousChildKey: nil, rejection: nil, gap: DatasyncGap(gap), path: path, manager: manager, source: handle,
        carriesData: false))
  }

  private func append(_ event: DatasyncEvent) {
    let (consumer, isFull) = inner.withLock { inner -> (CheckedContinuation<Void, Never>?, Bool) in
      guard inner.completion == nil, inner.revocation == nil else { return (nil, false) }
      if inner.events.count - inner.head >= limit {
        // The newest value is what a consumer of values wants. What is not a value, such as a gap, is not replaced.
        guard let oldest = inner.events[inner.head...].firstIndex(where: { $0.eventType.isValueChange }) else {
          return (nil, true)
        }
        inner.events.remove(at: oldest)
        inner.events.append(event)
        return (nil, false)
      }
      inner.events.append(event)
      defer { inner.consumer = nil }
      return (inner.consumer, false)
    }
    consumer?.resume()
    if isFull {
      let text = "more than \(limit) events wait for the consumer (waitingEvents)"
      end(.revocation(reason: DatasyncRevocation(.overflow, text)))
    }
  }

  /// The kind under which an event is delivered; nil when it was not asked for.
  private func kind(of event: TreeEvent) -> DatasyncEventType? {
    switch type {
    case .value(let change, let withoutData, let acknowledgement, let rejection, _):
      switch event.kind {
      case .value: return change ? .value(change: true, withoutData: withoutData) : nil
      case .valueAcknowledged: return acknowledgement ? .valueAcknowledgement : nil
      case .writeRejected: return rejection ? .valueRejection : nil
      case .childAdded, .childChanged, .childMoved, .childRemoved, .childAcknowledged, .cancelled: return nil
      }
    case .child(let addition, let change, let removal, let acknowledgement, let rejection, _):
      remember(event)
      switch event.kind {
      case .childAdded: return addition ? .childAddition : nil
      case .childChanged: return change ? .childChange : nil
      case .childRemoved: return removal ? .childRemoval : nil
      case .childAcknowledged:
        guard acknowledgement else { return nil }
        let kind = event.key.flatMap { key in inner.withLock { $0.kinds.removeValue(forKey: key) } }
        if acknowledgements == .ofAllKinds { return .childAcknowledgement }
        let isSubscribed =
          switch kind {
          case .childAdded?: addition
          case .childRemoved?: removal
          default: change
          }
        return isSubscribed ? .childAcknowledgement : nil
      case .writeRejected: return rejection ? .childRejection : nil
      case .childMoved, .value, .valueAcknowledged, .cancelled: return nil
      }
    }
  }

  private func remember(_ event: TreeEvent) {
    guard acknowledgements == .ofSubscribedKinds, let key = event.key else { return }
    switch event.kind {
    case .childAdded, .childChanged, .childRemoved:
      inner.withLock { $0.kinds[key] = event.isAcknowledged ? nil : event.kind }
    case .childMoved, .childAcknowledged, .value, .valueAcknowledged, .writeRejected, .cancelled: break
    }
  }

  func becameReady() {
    let (waiters, consumer) = inner.withLock { inner in
      inner.isReady = true
      defer { (inner.readyWaiters, inner.consumer) = ([:], nil) }
      return (Array(inner.readyWaiters.values), inner.consumer)
    }
    consumer?.resume()
    for waiter in waiters { waiter.resume() }
  }

  /// Ends the subscription, once; nothing is delivered after the completion. A cancellation drops the events that wait;
  /// a revocation follows them, because the server sent them before it.
  func end(_ completion: DatasyncCompletion) {
    let (consumer, waiters, onEnd) = inner.withLock {
      inner -> (CheckedContinuation<Void, Never>?, [CheckedContinuation<Void, any Error>], (@Sendable () -> Void)?) in
      guard inner.completion == nil else { return (nil, [], nil) }
      if case .revocation = completion { inner.revocation = inner.revocation ?? completion }
      if case .revocation = completion, inner.head < inner.events.count {
        defer { inner.readyWaiters = [:] }
        return (nil, Array(inner.readyWaiters.values), nil)
      }
      inner.completion = completion
      inner.events = []
      inner.head = 0
      inner.kinds = [:]
      defer { (inner.consumer, inner.readyWaiters, inner.onEnd) = (nil, [:], nil) }
      return (inner.consumer, Array(inner.readyWaiters.values), inner.onEnd)
    }
    consumer?.resume()
    for waiter in waiters { waiter.resume(throwing: Self.error(completion)) }
    onEnd?()
  }

  static func error(_ completion: DatasyncCompletion) -> any Error {
    switch completion {
    case .cancellation: CancellationError()
    case .revocation(let reason): DatasyncError(reason.kind == .rules ? .denied : .revoked, reason.message)
    }
  }

  // MARK: The consumer's side

  /// The next event, or how the subscription ended. One consumer.
  func next() async -> Step {
    while true {
      if let step = taken { return step }
      // Only a consumer of batches is shown that the server has confirmed.
      inner.withLock { $0.isReadyTaken = true }
      await wait()
    }
  }

  /// All events that wait; none once, when the server has confirmed the listen and nothing is there. One consumer.
  func nextBatch() async -> Batch {
    while true {
      var events: [DatasyncEvent] = []
      loop: while let step = taken {
        switch step {
        case .event(let event): events.append(event)
        case .ended(let completion) where events.isEmpty: return .ended(completion)
        case .ended: break loop
        }
      }
      let isDue = inner.withLock { inner in
        defer { if inner.isReady { inner.isReadyTaken = true } }
        return !events.isEmpty || inner.isReady && !inner.isReadyTaken
      }
      if isDue { return .events(events) }
      await wait()
    }
  }

  /// Waits for something to take.
  private func wait() async {
    await withCheckedContinuation { continuation in
      let isDue = inner.withLock { inner in
        let hasReady = inner.isReady && !inner.isReadyTaken
        if inner.completion != nil || inner.head < inner.events.count || hasReady { return true }
        inner.consumer = continuation
        return false
      }
      if isDue { continuation.resume() }
    }
  }

  private var taken: Step? {
    let revocation = inner.withLock { $0.head < $0.events.count ? nil : $0.revocation }
    if let revocation { end(revocation) }
    return inner.withLock { inner in
      if let completion = inner.completion { return .ended(completion) }
      guard inner.head < inner.events.count else { return nil }
      let event = inner.events[inner.head]
      inner.head += 1
      if inner.head == inner.events.count {
        inner.events.removeAll(keepingCapacity: inner.head < 256)
        inner.head = 0
      } else if inner.head > 1_024 {
        inner.events.removeFirst(inner.head)
        inner.head = 0
      }
      return .event(event)
    }
  }

  /// Returns when the server has confirmed the listen.
  func ready() async throws {
    let number = inner.withLock { inner -> Int in
      inner.nextWaiter += 1
      return inner.nextWaiter
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let known = inner.withLock { inner -> Result<Void, any Error>? in
          if Task.isCancelled { return .failure(CancellationError()) }
          if let completion = inner.completion ?? inner.revocation { return .failure(Self.error(completion)) }
          if inner.isReady { return .success(()) }
          inner.readyWaiters[number] = continuation
          return nil
        }
        if let known { continuation.resume(with: known) }
      }
    } onCancel: {
      let waiter = inner.withLock { $0.readyWaiters.removeValue(forKey: number) }
      waiter?.resume(throwing: CancellationError())
    }
  }
}

extension DatasyncGap {
  /// The server's words.
  fileprivate init(_ gap: TreePush.Gap) {
    let reason: Reason =
      switch gap.reason {
      case "retention": .retention
      case "unknown-term", "beyond-term": .otherData
      case "too-many-changes": .tooManyChanges
      case "slow-client": .slowClient
      default: .other(gap.reason)
      }
    self.init(reason: reason, from: gap.from, to: gap.to)
  }
}
