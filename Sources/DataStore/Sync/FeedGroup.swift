internal import MartletGraphQLClient
internal import MartletJSON
internal import MartletRuntime
internal import MartletSyncEngine
internal import MartletVocabulary

/// The subscriptions that make one feed: ready when all of them are, ended when one of them is.
final class FeedGroup: Sendable {
  struct Event: Sendable {
    var value: JSONValue
    var cursor: Cursor?
    var endsTransaction: Bool
  }

  enum Item: Sendable {
    case ready
    /// An event of the subscription with this index.
    case event(Int, Event)
    case other(FeedNews)
  }

  private struct State {
    var waiting: Set<Int>
    var isReady = false
    var isOver = false
    var interrupted: Set<Int> = []
    var cores: [SubscriptionCore] = []
  }

  private let state: Lock<State>
  /// A subscription that the caller may not have counts as established.
  private let isLenient: Bool
  private let handle: @Sendable (Item) -> Void
  private let spawner = ConcurrentSpawner()

  init(count: Int, isLenient: Bool, _ handle: @escaping @Sendable (Item) -> Void) {
    state = Lock(State(waiting: Set(0..<count)))
    self.isLenient = isLenient
    self.handle = handle
  }

  func start(_ index: Int, _ request: OperationRequest, on transport: any NetworkTransport) {
    // Events are handed on at once, so that nothing waits here.
    let core = SubscriptionCore(nil)
    state.withLock { $0.cores.append(core) }
    do {
      try transport.subscribe(request, feeding: SubscriptionFeed(core))
    } catch {
      return ended(index, error)
    }
    spawner.spawn { [weak self] in
      for await state in core.states() { self?.changed(index, state) }
    }
    spawner.spawn { [weak self] in
      do {
        while let event = try await core.next() { self?.received(index, event) }
      } catch {
        // The end is also the last of its states.
      }
    }
  }

  func cancel() {
    let cores = state.withLock { state in
      state.isOver = true
      return state.cores
    }
    for core in cores { core.leave() }
  }

  private func received(_ index: Int, _ event: SubscriptionEvent) {
    if state.withLock({ $0.isOver }) { return }
    if let gap = event.gap { return handle(.other(.gap(reason: gap.reason.rawValue))) }
    guard let value = try? JSONValue(parsing: event.payload) else {
      return handle(.other(.ended(.refused(code: "FEED", message: "the server's feed cannot be read"))))
    }
    // The events may come before the state that says so.
    established(index)
    handle(.event(index, Event(value: value, cursor: event.cursor, endsTransaction: event.endsTransaction)))
  }

  private func changed(_ index: Int, _ state: SubscriptionState) {
    switch state {
    case .pending, .paused: break
    case .active:
      established(index)
      let isRestored = self.state.withLock { state in
        state.interrupted.remove(index) != nil && state.interrupted.isEmpty && !state.isOver
      }
      if isRestored { handle(.other(.restored)) }
    case .reconnecting:
      let isFirst = self.state.withLock { state in
        state.interrupted.insert(index).inserted && state.interrupted.count == 1 && !state.isOver
      }
      if isFirst { handle(.other(.interrupted)) }
    case .finished(.cancelled): break
    case .finished(.completed): ended(index, SyncFailure.network)
    case .finished(.error(let error)): ended(index, error)
    }
  }

  private func established(_ index: Int) {
    let isReady = state.withLock { state in
      state.waiting.remove(index)
      guard state.waiting.isEmpty, !state.isReady, !state.isOver else { return false }
      state.isReady = true
      return true
    }
    if isReady { handle(.ready) }
  }

  private func ended(_ index: Int, _ error: any Error) {
    let failure = SyncFailures.failure(error)
    if isLenient, failure == .unauthorized { return established(index) }
    let isFirst = state.withLock { state in
      defer { state.isOver = true }
      return !state.isOver
    }
    guard isFirst else { return }
    handle(.other(.ended(failure)))
    cancel()
  }
}
