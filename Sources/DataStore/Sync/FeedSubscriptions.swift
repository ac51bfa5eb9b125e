internal import MartletGraphQLClient
internal import MartletJSON
internal import MartletRuntime
internal import MartletSyncEngine
internal import MartletVocabulary

/// The subscriptions that make one feed: ready when all of them are, ended when one of them is.
final class FeedSubscriptions: Sendable {
  struct Event: Sendable {
    var value: JSONValue
    var cursor: Cursor?
    var endsTransaction: Bool
  }

  enum Item: Sendable {
    /// With the server's mark, where it gives marks.
    case ready(SubscriptionMark?)
    /// Every change up to here has come, though none of them may have been for this store.
    case passed(Cursor)
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
  /// Whether the server is this package's: where the transport resumes, it marks when everything that was missed has
  /// come. Of others, a subscription
  /// that the caller may not have counts as established.
  private let isOwn: Bool
  private let handle: @Sendable (Item) async -> Void
  private let spawner: any Spawner

  init(
    count: Int, isOwn: Bool, spawner: any Spawner, _ handle: @escaping @Sendable (Item) async -> Void
  ) {
    self.spawner = spawner
    state = Lock(State(waiting: Set(0..<count)))
    self.isOwn = isOwn
    self.handle = handle
  }

  func start(_ index: Int, _ request: OperationRequest, on transport: any NetworkTransport) {
    // The transport's bound: a server that is faster than the disk waits.
    let core = SubscriptionCore(nil)
    if isOwn { core.tellMarks() }
    core.tellLife()
    let isOver = state.withLock { state in
      state.cores.append(core)
      return state.isOver
    }
    if isOver { return }
    spawner.spawn { [weak self] in
      do {
        try transport.subscribe(request, feeding: SubscriptionFeed(core))
        while let event = try await core.next() { await self?.received(index, event) }
        await self?.ended(index, SyncFailure.network)
      } catch {
        await self?.ended(index, error)
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

  private func received(_ index: Int, _ event: SubscriptionEvent) async {
    if state.withLock({ $0.isOver }) { return }
    if let gap = event.gap { return await handle(.other(.gap(reason: gap.reason.rawValue, to: gap.to))) }
    if let mark = event.mark { return await established(index, mark) }
    if let life = event.life { return await changed(index, life) }
    guard let value = try? JSONValue(held: event.payload) else {
      return await ended(index, SyncFailure.refused(code: "FEED", message: "the server's feed cannot be read"))
    }
    await handle(.event(index, Event(value: value, cursor: event.cursor, endsTransaction: event.endsTransaction)))
  }

  private func changed(_ index: Int, _ life: SubscriptionLife) async {
    switch life {
    case .connecting, .disconnected: break
    case .connected:
      // A transport that gives no marks cannot resume: the subscription is established all the same.
      let expectsMark = isOwn && state.withLock { $0.cores[index].expectsMark }
      if !expectsMark { await established(index, nil) }
    case .interrupted(let reason, _):
      let (isFirst, wasReady) = state.withLock { state in
        let isFirst = state.interrupted.insert(index).inserted && state.interrupted.count == 1
        return (isFirst && !state.isOver, state.isReady)
      }
      if isFirst { await handle(.other(wasReady ? .interrupted : .unreachable(reason: reason))) }
    }
  }

  private func established(_ index: Int, _ mark: SubscriptionMark?) async {
    let (isReady, isRestored, wasReady) = state.withLock { state in
      let wasReady = state.isReady && !state.isOver
      let isRestored =
        state.interrupted.remove(index) != nil && state.interrupted.isEmpty && state.isReady && !state.isOver
      state.waiting.remove(index)
      guard state.waiting.isEmpty, !state.isReady, !state.isOver else { return (false, isRestored, wasReady) }
      state.isReady = true
      return (true, false, false)
    }
    if isReady { await handle(.ready(mark)) }
    if isRestored { await handle(.other(.restored(mark?.cursor))) }
    if wasReady, let cursor = mark?.cursor { await handle(.passed(cursor)) }
  }

  private func ended(_ index: Int, _ error: any Error) async {
    let failure = SyncFailures.failure(error)
    if !isOwn, failure == .unauthorized || failure == .forbidden { return await established(index, nil) }
    let isFirst = state.withLock { state in
      defer { state.isOver = true }
      return !state.isOver
    }
    guard isFirst else { return }
    await handle(.other(isOwn && SyncFailures.isForbidden(error) ? .forbidden : .ended(failure)))
    cancel()
  }
}
