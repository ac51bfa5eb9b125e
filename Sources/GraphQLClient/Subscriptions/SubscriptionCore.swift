internal import MartletRuntime

/// What a subscription's stream and its connection share: the buffer, the state, and the waiting callers.
///
/// Everything is decided under one lock and acted on outside it.
package final class SubscriptionCore: Sendable {
  fileprivate struct Shared {
    // In this order they fill each other's gaps: a store has one of these for each live query.
    var state = SubscriptionState.pending
    var isConfirmed = false
    /// Whether the bound was asked for; otherwise it is the transport's.
    let hasOwnBound: Bool
    var isHoldingReader = false
    /// Whether there is something to take that is not in the buffer; see `signal`.
    var isSignalled = false
    /// Whether news of the life is put between the events.
    var tellsLife = false
    /// Whether the transport resumes, so that the server marks when everything that was missed has come.
    var expectsMark = false
    /// Whether a server's marks are put between the events.
    var tellsMarks = false
    /// The last such news was that it is connected.
    var toldConnected = false
    var buffer: EventBuffer
    var consumer: CheckedContinuation<Void, Never>?
    /// Whose the events are, as long as it lives: it says when it ends.
    var owner: ObjectIdentifier?
    var readyWaiters: [Int: CheckedContinuation<Void, any Error>] = [:]
    var nextWaiter = 0
    var onCancel: (@Sendable () -> Void)?
    var onRoom: (@Sendable () -> Void)?
    /// Nil until one is there.
    var observers: Observers?
  }

  /// What is called beside the consumer.
  ///
  /// `@unchecked Sendable` holds because it is used within the lock of `shared` alone.
  fileprivate final class Observers: @unchecked Sendable {
    var states: [Int: AsyncStream<SubscriptionState>.Continuation] = [:]
    var news = NewsQueue()
    var onWithdrawal: (@Sendable () -> Void)?
  }

  private let shared: Lock<Shared>

  /// - Parameter policy: the buffer's bound; nil takes the transport's.
  package init(_ policy: BufferPolicy?) {
    shared = Lock(Shared(hasOwnBound: policy != nil, buffer: EventBuffer(policy ?? BufferPolicy())))
  }

  /// The transport's bound, used when the caller set none. Before anything is delivered.
  package func bound(by policy: BufferPolicy) {
    shared.withLock { if !$0.hasOwnBound { $0.buffer.policy = policy } }
  }

  /// The connection's side; called once, before the stream is handed out.
  package func connect(onCancel: @escaping @Sendable () -> Void, onRoom: @escaping @Sendable () -> Void) {
    shared.withLock {
      $0.onCancel = onCancel
      $0.onRoom = onRoom
    }
  }

  /// From now on called with every event and every change of the state, before the consumer. Before anything is
  /// delivered.
  func observe(_ hear: @escaping @Sendable (SubscriptionNews) -> Void) {
    shared.withLock { $0.withObservers { $0.news.add(hear) } }
  }

  /// What to do when the server shows the caller other data than before, or ends the subscription because the caller
  /// may no longer see its data: before the consumer learns it. Before anything is delivered.
  func onWithdrawal(_ act: @escaping @Sendable () -> Void) {
    shared.withLock { $0.withObservers { $0.onWithdrawal = act } }
  }

  /// - Parameter wasLive: Whether only a subscription counts that has been live: another one has shown nothing.
  private func withdraw(whereLive wasLive: Bool) {
    let act = shared.withLock { shared -> (@Sendable () -> Void)? in
      switch shared.state {
      case .active, .reconnecting, .paused: shared.observers?.onWithdrawal
      case .pending: wasLive ? nil : shared.observers?.onWithdrawal
      case .finished: nil
      }
    }
    act?()
  }

  private func tellNews() {
    while let (news, hear) = shared.withLock({ $0.observers?.news.next() }) { hear(news) }
  }

  package var state: SubscriptionState { shared.withLock { $0.state } }
  package var isConfirmed: Bool { shared.withLock { $0.isConfirmed } }
  package var highWater: Int { shared.withLock { $0.buffer.highWater } }
  package var waiting: Int { shared.withLock { $0.buffer.count } }

  // MARK: The connection's side

  /// Hands an event to the consumer. True asks the connection to stop reading until `onRoom`.
  package func deliver(_ event: SubscriptionEvent) -> Bool {
    if event.gap?.reason == .viewChanged { withdraw(whereLive: false) }
    let (consumer, appended, hasNews) = shared.withLock {
      shared -> (CheckedContinuation<Void, Never>?, EventBuffer.Appended, Bool) in
      if shared.state.isFinished { return (nil, .kept, false) }
      let hasNews = shared.observers?.news.append(SubscriptionNews(event)) ?? false
      let appended = shared.buffer.append(event)
      if appended == .full { shared.isHoldingReader = true }
      defer { shared.consumer = nil }
      return (shared.consumer, appended, hasNews)
    }
    if hasNews { tellNews() }
    consumer?.resume()
    if appended == .overflowed {
      let error = GraphQLClientError(.slowConsumer, "the subscription's buffer is full")
      leave(.error(error))
    }
    return appended == .full
  }

  /// There is something for the consumer to take where it finds it itself: an event without a payload, which is one
  /// however often this is called before the consumer takes it, and has no place in the buffer.
  package func signal() {
    let consumer = shared.withLock { shared -> CheckedContinuation<Void, Never>? in
      guard !shared.state.isFinished else { return nil }
      shared.isSignalled = true
      defer { shared.consumer = nil }
      return shared.consumer
    }
    consumer?.resume()
  }

  /// The subscription's state changed. A finished subscription does not change again.
  ///
  /// - Parameter life: what streams that report their state deliver for it, where the state alone is not enough.
  package func move(to state: SubscriptionState, isConfirmed: Bool = false, telling life: SubscriptionLife? = nil) {
    if case .finished(.error(let error)) = state, GraphQLClientError.isWithdrawal(error) {
      withdraw(whereLive: true)
    }
    let actions = shared.withLock { shared -> [() -> Void] in
      if shared.state.isFinished { return [] }
      if case (.active, .active) = (shared.state, state), life == nil {
        // It resumes: the consumer sees no change, and what the server has confirmed stays so.
        shared.isConfirmed = shared.isConfirmed || isConfirmed
        return []
      }
      let isChange = !shared.state.isSameStep(as: state)
      shared.state = state
      shared.isConfirmed = isConfirmed
      var actions: [() -> Void] = []
      if isChange, shared.observers?.news.append(.state(state)) == true { actions.append { self.tellNews() } }
      if case .finished(.cancelled) = state { shared.buffer.removeAll() }
      // What it stands for is gone with the subscription.
      if state.isFinished { shared.isSignalled = false }
      if let consumer = Self.tell(life ?? SubscriptionLife(state), &shared) { actions.append { consumer.resume() } }
      for waiter in isChange ? (shared.observers?.states ?? [:]).sorted(by: { $0.key < $1.key }) : [] {
        actions.append {
          waiter.value.yield(state)
          if state.isFinished { waiter.value.finish() }
        }
      }
      switch state {
      case .active:
        for waiter in shared.readyWaiters.sorted(by: { $0.key < $1.key }) { actions.append { waiter.value.resume() } }
        shared.readyWaiters = [:]
      case .finished(let end):
        for waiter in shared.readyWaiters.sorted(by: { $0.key < $1.key }) {
          actions.append { waiter.value.resume(throwing: Self.error(end)) }
        }
        shared.readyWaiters = [:]
        shared.observers?.states = [:]
        if let consumer = shared.consumer { actions.append { consumer.resume() } }
        shared.consumer = nil
      case .pending, .reconnecting, .paused: break
      }
      return actions
    }
    for action in actions { action() }
  }

  /// Puts news of the life between the events; answers the consumer that waited for any.
  private static func tell(_ life: SubscriptionLife?, _ shared: inout Shared) -> CheckedContinuation<Void, Never>? {
    guard shared.tellsLife, let life else { return nil }
    let isConnected = life == .connected
    if isConnected, shared.toldConnected { return nil }
    shared.toldConnected = isConnected
    shared.buffer.append(life)
    defer { shared.consumer = nil }
    return shared.consumer
  }

  /// Reports an attempt that failed before the subscription was ever live: its state stays as it is.
  package func tell(_ life: SubscriptionLife) {
    let consumer = shared.withLock { shared -> CheckedContinuation<Void, Never>? in
      shared.state.isFinished ? nil : Self.tell(life, &shared)
    }
    consumer?.resume()
  }

  /// Whether the server will mark that everything that was missed has come. Known once the subscription is active.
  package var expectsMark: Bool {
    get { shared.withLock { $0.expectsMark } }
    set { shared.withLock { $0.expectsMark = newValue } }
  }

  /// From now on the events have the server's marks between them. Before the subscription starts.
  package func tellMarks() { shared.withLock { $0.tellsMarks = true } }

  /// The server has sent everything up to a mark.
  package func deliver(_ mark: SubscriptionMark) {
    let consumer = shared.withLock { shared -> CheckedContinuation<Void, Never>? in
      guard shared.tellsMarks, !shared.state.isFinished else { return nil }
      _ = shared.buffer.append(SubscriptionEvent(mark: mark))
      defer { shared.consumer = nil }
      return shared.consumer
    }
    consumer?.resume()
  }

  /// From now on the events have news of the subscription's life between them. Before anything is consumed.
  package func tellLife() {
    shared.withLock { shared in
      guard !shared.tellsLife else { return }
      shared.tellsLife = true
      shared.buffer.joinsGaps = true
      var lives = [SubscriptionLife.connecting]
      var last: SubscriptionLife?
      switch shared.state {
      case .pending, .finished(.error): break
      case .active:
        lives.append(.connected)
        shared.toldConnected = true
      case .reconnecting: lives.append(.interrupted(reason: "the connection was lost", attempt: 1))
      case .paused: lives.append(.interrupted(reason: SubscriptionLife.pause, attempt: 0))
      case .finished(.completed): (lives, last) = ([.connecting, .connected], .disconnected)
      case .finished(.cancelled): last = .disconnected
      }
      shared.buffer.prepend(lives)
      if let last { shared.buffer.append(last) }
    }
  }

  private static func error(_ end: SubscriptionEnd) -> any Error {
    switch end {
    case .completed: GraphQLClientError(.connectionClosed, "the subscription completed before it was active")
    case .cancelled: CancellationError()
    case .error(let error): error
    }
  }

  // MARK: The consumer's side

  /// Ends the subscription from this side; nothing is delivered afterwards.
  package func leave(_ end: SubscriptionEnd = .cancelled) {
    let onCancel = shared.withLock { shared -> (@Sendable () -> Void)? in
      if shared.state.isFinished { return nil }
      defer { shared.onCancel = nil }
      return shared.onCancel
    }
    move(to: .finished(end))
    onCancel?()
  }

  /// Whether the events are this consumer's: the first consumer to ask gets them until it is gone.
  package func belongs(to consumer: SubscriptionConsumer) -> Bool {
    shared.withLock { shared in
      if shared.owner == nil { shared.owner = ObjectIdentifier(consumer) }
      return shared.owner == ObjectIdentifier(consumer)
    }
  }

  /// A consumer is gone. From its end on another one can have its identity.
  func ended(_ consumer: ObjectIdentifier) {
    shared.withLock { if $0.owner == consumer { $0.owner = nil } }
  }

  private enum Step {
    case event(SubscriptionEvent, room: (@Sendable () -> Void)?)
    case end(SubscriptionEnd)
    case wait
  }

  /// The next event; nil at the end. Throws the error the subscription failed with, once what was delivered before it
  /// has been taken.
  package func next() async throws -> SubscriptionEvent? {
    while true {
      let step = shared.withLock { shared -> Step in
        if let event = shared.buffer.take() {
          var room: (@Sendable () -> Void)?
          if shared.isHoldingReader, shared.buffer.hasRoom {
            shared.isHoldingReader = false
            room = shared.onRoom
          }
          return .event(event, room: room)
        }
        if shared.isSignalled {
          shared.isSignalled = false
          return .event(SubscriptionEvent(payload: []), room: nil)
        }
        if case .finished(let end) = shared.state { return .end(end) }
        return .wait
      }
      switch step {
      case .event(let event, let room):
        room?()
        return event
      case .end(.completed), .end(.cancelled): return nil
      case .end(.error(let error)): throw error
      case .wait: try await waitForNews()
      }
    }
  }

  private func waitForNews() async throws {
    let isSecond = await withTaskCancellationHandler {
      var isSecond = false
      await withCheckedContinuation { continuation in
        let goesOn = shared.withLock { shared -> Bool in
          if shared.buffer.count > 0 || shared.isSignalled || shared.state.isFinished { return true }
          if shared.consumer != nil {
            isSecond = true
            return true
          }
          shared.consumer = continuation
          return false
        }
        if goesOn { continuation.resume() }
      }
      return isSecond
    } onCancel: {
      leave()
    }
    if isSecond { throw SubscriptionConsumer.second }
  }

  /// Returns when the subscription is active.
  package func waitUntilActive() async throws {
    let number = shared.withLock { shared -> Int in
      shared.nextWaiter += 1
      return shared.nextWaiter
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let isCancelled = Task.isCancelled
        let answer = shared.withLock { shared -> Result<Void, any Error>? in
          if isCancelled { return .failure(CancellationError()) }
          switch shared.state {
          case .active: return .success(())
          case .finished(let end): return .failure(Self.error(end))
          case .pending, .reconnecting, .paused:
            shared.readyWaiters[number] = continuation
            return nil
          }
        }
        if let answer { continuation.resume(with: answer) }
      }
    } onCancel: {
      let waiter = shared.withLock { $0.readyWaiters.removeValue(forKey: number) }
      waiter?.resume(throwing: CancellationError())
    }
  }

  /// The state now and every change after it, the end last. At most 64 changes wait; older ones are dropped first.
  package func states() -> AsyncStream<SubscriptionState> {
    AsyncStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
      let number = shared.withLock { shared -> Int in
        shared.nextWaiter += 1
        continuation.yield(shared.state)
        if shared.state.isFinished {
          continuation.finish()
        } else {
          let number = shared.nextWaiter
          shared.withObservers { $0.states[number] = continuation }
        }
        return shared.nextWaiter
      }
      continuation.onTermination = { [weak self] _ in
        _ = self?.shared.withLock { $0.observers?.states.removeValue(forKey: number) }
      }
    }
  }
}

extension SubscriptionCore.Shared {
  fileprivate mutating func withObservers(_ body: (SubscriptionCore.Observers) -> Void) {
    let known = observers ?? SubscriptionCore.Observers()
    observers = known
    body(known)
  }
}
