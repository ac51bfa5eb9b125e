import MartletJSON
import MartletModels
import MartletSyncEngine
import MartletVocabulary
import Testing

/// Transcripts: an event, then exactly the actions that it causes, without the events of the hub.
@Suite struct SyncEngineTests {
  struct Transcript {
    var engine: SyncEngine
    var now = Instant.zero
    var wall: Int64 = 1_000_000
    private(set) var hub: [SyncHubEvent] = []

    init(
      models: [SyncConfiguration.Model] = [.init()], progress: [ModelProgress]? = nil,
      pending: [(number: Int64, model: Int)] = [], position: Int64 = 0,
      configure: (inout SyncConfiguration) -> Void = { _ in }
    ) {
      var configuration = SyncConfiguration(models: models)
      configuration.retry.jitter = .zero
      configure(&configuration)
      engine = SyncEngine(
        configuration, progress: progress ?? models.map { _ in ModelProgress() }, pending: pending, position: position,
        seed: 1)
    }

    mutating func callAsFunction(_ event: SyncEvent) -> [SyncAction] {
      var actions: [SyncAction] = []
      for action in engine.handle(event, now: now, wall: wall) {
        if case .hub(let event) = action { hub.append(event) } else { actions.append(action) }
      }
      return actions
    }

    /// Starts, and syncs all models with empty pages.
    mutating func becomeLive() {
      _ = self(.start)
      _ = self(.subscribed(generation: engine.generation, resumed: false, cursor: nil))
      for model in engine.queuedModels {
        _ = self(.page(generation: engine.generation, model: model, SyncEngineTests.page()))
      }
      hub = []
    }
  }

  static func page(
    _ changes: [RemoteChange] = [], next: String? = nil, startedAt: Int64 = 500, position: Int64 = 10
  ) -> SyncPage {
    SyncPage(changes: changes, nextToken: next, startedAt: startedAt, position: position)
  }

  static func change(_ key: JSONValue, _ position: Int64, model: Int = 0) -> RemoteChange {
    RemoteChange(
      model: model, key: RecordKey(values: [key]),
      image: ServerImage(record: Record(values: [key]), version: 1, position: position))
  }

  @Test func `P12: a write that was applied before a gap is seen once the sync after the gap is complete`() {
    var step = Transcript(pending: [(1, 0)])
    step.becomeLive()
    _ = step(.uploaded(generation: 1, number: 1, nil, position: 20))
    _ = step(.feedReset(generation: 1, reason: "retention"))
    _ = step(.subscribed(generation: 2, resumed: false, cursor: "a-20"))
    #expect(step(.page(generation: 2, model: 0, Self.page(position: 20))).contains(.progress(number: 1, .seen)))
  }

  @Test func `a start subscribes first, syncs parents first, and holds the feed back until all pages are applied`() {
    var step = Transcript(models: [.init(parents: [1]), .init()])
    #expect(step(.start) == [.subscribe(generation: 1)])
    #expect(
      step(.subscribed(generation: 1, resumed: false, cursor: nil)) == [
        .beginFullSync(model: 1), .query(generation: 1, model: 1, .full, nextToken: nil, upTo: nil),
      ])
    let early = Self.change("x", 12)
    #expect(step(.feed(generation: 1, [early], cursor: "a-12", position: 12)) == [])
    let first = Self.change("p", 3, model: 1)
    #expect(
      step(.page(generation: 1, model: 1, Self.page([first], next: "t"))) == [
        .applyPage(model: 1, [first]), .query(generation: 1, model: 1, .full, nextToken: "t", upTo: nil),
      ])
    let done = ModelProgress(lastSync: 500, completedAt: 1_000_000)
    #expect(
      step(.page(generation: 1, model: 1, Self.page(startedAt: 900))) == [
        .applyPage(model: 1, []), .finishModel(model: 1, done, sweepBefore: 10), .beginFullSync(model: 0),
        .query(generation: 1, model: 0, .full, nextToken: nil, upTo: nil),
      ])
    #expect(!step.engine.isSynced(model: 0))
    #expect(
      step(.page(generation: 1, model: 0, Self.page())) == [
        .applyPage(model: 0, []), .finishModel(model: 0, done, sweepBefore: 10),
        .apply([early], cursor: "a-12"),
      ])
    #expect(step.engine.isSynced(model: 0) && step.engine.isSettled)
    #expect(
      step.hub == [
        .networkStatus(active: true), .subscriptionsEstablished, .syncQueriesStarted(models: [1, 0]),
        .modelSynced(model: 1, isFullSync: true, added: 1, deleted: 0),
        .modelSynced(model: 0, isFullSync: true, added: 0, deleted: 0), .syncReceived(early), .syncQueriesReady,
        .syncStarted, .ready, .outboxStatus(isEmpty: true),
      ])
  }

  @Test func `a feed that resumes needs no query for a model that was synced`() {
    var step = Transcript(progress: [ModelProgress(lastSync: 500, completedAt: 900_000)])
    _ = step(.start)
    #expect(step(.subscribed(generation: 1, resumed: true, cursor: nil)) == [])
    #expect(step.engine.phase == .live)
  }

  @Test func `a model is synced by a delta when that is young enough and its filter is the same`() {
    let stored = ModelProgress(lastSync: 500, completedAt: 900_000, filter: [1])
    #expect(SyncKind.decide(stored, filter: [1], now: 1_000_000, interval: 200_000) == .delta(since: 500))
    #expect(SyncKind.decide(stored, filter: [2], now: 1_000_000, interval: 200_000) == .full)
    #expect(SyncKind.decide(stored, filter: [1], now: 1_200_000, interval: 200_000) == .full)
    #expect(SyncKind.decide(stored, filter: [1], now: 800_000, interval: 200_000) == .full, "a clock set back")
    #expect(SyncKind.decide(ModelProgress(), filter: [], now: 0, interval: 1) == .full)
  }

  @Test func `a server whose delta is gone answers with all records, and the rest are removed`() {
    var step = Transcript(progress: [ModelProgress(lastSync: 500, completedAt: 900_000)])
    _ = step(.start)
    #expect(
      step(.subscribed(generation: 1, resumed: false, cursor: nil)) == [
        .query(generation: 1, model: 0, .delta(since: 500), nextToken: nil, upTo: nil)
      ])
    var page = Self.page()
    page.isFull = true
    let actions = step(.page(generation: 1, model: 0, page))
    #expect(actions.contains(.beginFullSync(model: 0)))
    #expect(
      actions.contains(
        .finishModel(model: 0, ModelProgress(lastSync: 500, completedAt: 1_000_000), sweepBefore: 10)))
  }

  @Test func `one write is in flight at a time, and its way is reported: sent, durable, seen`() {
    var step = Transcript()
    step.becomeLive()
    #expect(
      step(.outbox(.added(number: 1, model: 0))) == [
        .upload(generation: 1, number: 1), .progress(number: 1, .sent),
      ])
    #expect(step(.outbox(.added(number: 2, model: 0))) == [])
    #expect(
      step(.uploaded(generation: 1, number: 1, nil, position: 20)) == [
        .acknowledge(number: 1, nil), .progress(number: 1, .durable), .upload(generation: 1, number: 2),
        .progress(number: 2, .sent),
      ])
    #expect(step(.uploaded(generation: 1, number: 1, nil, position: 20)) == [], "an answer that came twice")
    #expect(
      step(.feed(generation: 1, [], cursor: "a-20", position: 20)) == [
        .apply([], cursor: "a-20"), .progress(number: 1, .seen),
      ])
  }

  @Test func `uploads begin as soon as their model has been synced, while others are`() {
    var step = Transcript(models: [.init(), .init()], pending: [(number: 1, model: 0)])
    _ = step(.start)
    _ = step(.subscribed(generation: 1, resumed: false, cursor: nil))
    let actions = step(.page(generation: 1, model: 0, Self.page()))
    #expect(actions.last == .progress(number: 1, .sent))
    #expect(step.engine.phase == .syncing)
  }

  @Test func `P15: a refusal for load never drops a write, and Retry-After is honoured`() {
    var step = Transcript()
    step.becomeLive()
    _ = step(.outbox(.added(number: 1, model: 0)))
    for attempt in 1...40 {
      let failure = SyncFailure.overloaded(retryAfter: attempt == 1 ? .seconds(7) : nil)
      let actions = step(.uploadFailed(generation: 1, number: 1, failure))
      let delay: Duration = attempt == 1 ? .seconds(7) : min(.milliseconds(100 << min(attempt - 1, 20)), .seconds(300))
      #expect(actions == [.wake(at: step.now + delay)])
      step.now = step.now + delay
      #expect(step(.timer) == [.upload(generation: 1, number: 1), .progress(number: 1, .sent)])
    }
    #expect(!step.engine.isSettled)
  }

  @Test func `a network that is reachable again ends the wait`() {
    var step = Transcript()
    step.becomeLive()
    _ = step(.outbox(.added(number: 1, model: 0)))
    _ = step(.uploadFailed(generation: 1, number: 1, .network))
    #expect(step(.reachable) == [.upload(generation: 1, number: 1), .progress(number: 1, .sent)])
  }

  @Test func `credentials are refreshed once for a write before it is rejected`() {
    var step = Transcript()
    step.becomeLive()
    _ = step(.outbox(.added(number: 1, model: 0)))
    #expect(step(.uploadFailed(generation: 1, number: 1, .forbidden)) == [.refreshCredentials(generation: 1)])
    #expect(
      step(.credentials(generation: 1, isRefreshed: true)) == [
        .upload(generation: 1, number: 1), .progress(number: 1, .sent),
      ])
    #expect(
      step(.uploadFailed(generation: 1, number: 1, .forbidden)) == [.reject(number: 1, .unauthorized)])
    #expect(step.hub.contains(.outboxMutationFailed(number: 1, .unauthorized)))
  }

  @Test func `P15: a write waits while no credentials are accepted, since it may have been applied before`() {
    var step = Transcript(pending: [(1, 0)])
    step.becomeLive()
    for attempt in 1...3 {
      #expect(step(.uploadFailed(generation: 1, number: 1, .unauthorized)) == [.refreshCredentials(generation: 1)])
      _ = step(.credentials(generation: 1, isRefreshed: true))
      let waits = step(.uploadFailed(generation: 1, number: 1, .unauthorized))
      step.now = step.now + .milliseconds(100 << (attempt - 1))
      #expect(waits == [.wake(at: step.now)])
      #expect(step(.timer) == [.upload(generation: 1, number: 1), .progress(number: 1, .sent)])
    }
    #expect(!step.hub.contains { if case .outboxMutationFailed = $0 { true } else { false } })
  }

  @Test func `a refused write is rejected with its reason and the next one is sent`() {
    var step = Transcript()
    step.becomeLive()
    _ = step(.outbox(.added(number: 1, model: 0)))
    _ = step(.outbox(.added(number: 2, model: 0)))
    #expect(
      step(.uploadFailed(generation: 1, number: 1, .conditionFailed)) == [
        .reject(number: 1, .conditionFailed), .upload(generation: 1, number: 2), .progress(number: 2, .sent),
      ])
    #expect(step.hub.contains(.conditionalSaveFailed(number: 1)))
    #expect(step(.outbox(.removed([2]))) == [])
  }

  @Test func `a conflict waits for the application, over a reconnect too, and a retry has a new number`() {
    var step = Transcript()
    step.becomeLive()
    _ = step(.outbox(.added(number: 1, model: 0)))
    let theirs = ServerImage(record: Record(values: ["x"]), version: 3, position: 30)
    #expect(step(.uploadFailed(generation: 1, number: 1, .conflict(theirs))) == [.askConflict(number: 1, theirs)])
    _ = step(.disconnected(generation: 1, .network))
    _ = step(.reachable)
    _ = step(.subscribed(generation: 3, resumed: true, cursor: nil))
    #expect(step.engine.phase == .live)
    #expect(
      step(.resolved(number: 1, .retryLocal, newNumber: 5)) == [
        .resolve(number: 1, .retryLocal, theirs, newNumber: 5)
      ])
    #expect(
      step(.settled(number: 1, .retried(as: 5))) == [.upload(generation: 3, number: 5), .progress(number: 5, .sent)])
  }

  @Test func `a lost connection sends what was in flight again, under its number`() {
    var step = Transcript()
    step.becomeLive()
    _ = step(.outbox(.added(number: 1, model: 0)))
    #expect(step(.disconnected(generation: 1, .network)).first == .disconnect)
    #expect(step(.uploaded(generation: 1, number: 1, nil, position: 3)) == [])
    step.now = step.now + .seconds(1)
    #expect(step(.timer) == [.subscribe(generation: 3)])
    #expect(
      step(.subscribed(generation: 3, resumed: true, cursor: nil)) == [
        .upload(generation: 3, number: 1), .progress(number: 1, .sent),
      ])
  }

  @Test func `a feed that cannot continue, or shows other records than before, leads to full syncs`() {
    var step = Transcript()
    step.becomeLive()
    #expect(
      step(.feedReset(generation: 1, reason: "view-changed")) == [.disconnect, .subscribe(generation: 2)])
    #expect(
      step(.subscribed(generation: 2, resumed: false, cursor: nil)).last
        == .query(generation: 2, model: 0, .full, nextToken: nil, upTo: nil))
  }

  @Test func `P19: on an older copy of the server's data no position of before counts, and what it had is abandoned`() {
    var step = Transcript(pending: [(1, 0), (2, 0)])
    step.becomeLive()
    _ = step(.feed(generation: 1, [], cursor: "a", position: 30))
    _ = step(.uploaded(generation: 1, number: 1, nil, position: 40))
    #expect(step(.otherHistory(generation: 1)) == [.abandon([1]), .disconnect, .subscribe(generation: 2)])
    _ = step(.subscribed(generation: 2, resumed: false, cursor: nil))
    #expect(step(.page(generation: 2, model: 0, Self.page(position: 10))).contains(.upload(generation: 2, number: 2)))
    // 30 was seen, but of another log.
    #expect(
      step(.uploaded(generation: 2, number: 2, nil, position: 20)) == [
        .acknowledge(number: 2, nil), .progress(number: 2, .durable),
      ])
    #expect(
      step(.feed(generation: 2, [], cursor: "b", position: 20)) == [
        .apply([], cursor: "b"), .progress(number: 2, .seen),
      ])
  }

  @Test func `P12: a write that was applied before the engine stopped is seen by the next engine's feed`() {
    var step = Transcript(pending: [(1, 0)])
    step.becomeLive()
    _ = step(.uploaded(generation: 1, number: 1, nil, position: 20))
    _ = step(.stop)
    var next = Transcript(progress: [ModelProgress(lastSync: 1, completedAt: 1)])
    next.engine.follow(step.engine)
    _ = next(.start)
    _ = next(.subscribed(generation: 1, resumed: true, cursor: nil))
    #expect(
      next(.feed(generation: 1, [], cursor: "a", position: 20)) == [
        .apply([], cursor: "a"), .progress(number: 1, .seen),
      ])
  }

  @Test func `P12: a resend that the feed had passed before the engine began is seen at once`() {
    var step = Transcript(progress: [ModelProgress(lastSync: 1, completedAt: 1)], pending: [(1, 0)], position: 20)
    _ = step(.start)
    _ = step(.subscribed(generation: 1, resumed: true, cursor: nil))
    #expect(
      step(.uploaded(generation: 1, number: 1, nil, position: 20)) == [
        .acknowledge(number: 1, nil), .progress(number: 1, .durable), .progress(number: 1, .seen),
      ])
  }

  @Test func `P19: a conflict with a record of another history is asked about anew`() {
    var step = Transcript(pending: [(1, 0)])
    step.becomeLive()
    let image = ServerImage(record: Record(values: ["a"]), version: 9, position: 90)
    _ = step(.uploadFailed(generation: 1, number: 1, .conflict(image)))
    _ = step(.otherHistory(generation: 1))
    #expect(step(.resolved(number: 1, .retryLocal, newNumber: 2)) == [])
    _ = step(.subscribed(generation: 2, resumed: false, cursor: nil))
    #expect(step(.page(generation: 2, model: 0, Self.page())).contains(.upload(generation: 2, number: 1)))
  }

  @Test func `defect 10: a model that meets the cap on records is reported as truncated and not as synced`() {
    var step = Transcript(configure: { $0.syncMaxRecords = 2 })
    _ = step(.start)
    _ = step(.subscribed(generation: 1, resumed: false, cursor: nil))
    let page = Self.page([Self.change("a", 1), Self.change("b", 2)], next: "more")
    _ = step(.page(generation: 1, model: 0, page))
    #expect(step.hub.contains(.modelTruncated(model: 0, limit: 2)))
    let synced = step.hub.filter { if case .modelSynced = $0 { true } else { false } }
    #expect(synced.isEmpty)
    #expect(!step.engine.isSynced(model: 0) && !step.engine.isSettled)
  }

  @Test func `a page is asked for with what is left of the most that a sync may bring`() {
    func limits(_ actions: [SyncAction]) -> [Int?] {
      actions.compactMap { if case .query(_, _, _, _, let limit) = $0 { .some(limit) } else { nil } }
    }
    var step = Transcript(models: [.init(), .init()], configure: { $0.syncMaxRecords = 5 })
    _ = step(.start)
    #expect(limits(step(.subscribed(generation: 1, resumed: false, cursor: nil))) == [5])
    var removed = Self.change("c", 3)
    removed.image.record = nil
    let page = Self.page([Self.change("a", 1), Self.change("b", 2), removed], next: "more")
    #expect(limits(step(.page(generation: 1, model: 0, page))) == [3])
    #expect(limits(step(.page(generation: 1, model: 0, Self.page()))) == [5], "another model")
    var unlimited = Transcript()
    _ = unlimited(.start)
    #expect(limits(unlimited(.subscribed(generation: 1, resumed: false, cursor: nil))) == [nil])
  }

  @Test func `defect 11: an end without a retry is an event, and a start leaves it`() {
    var step = Transcript()
    _ = step(.start)
    let refusal = SyncFailure.refused(code: "NO_SUCH_MODEL", message: "Post")
    #expect(step(.disconnected(generation: 1, refusal)) == [.disconnect])
    #expect(step.hub.last == .terminated(refusal))
    #expect(step.engine.phase == .terminated)
    #expect(step(.start) == [.subscribe(generation: 3)])
  }

  @Test func `stop and clear end everything, and answers that come later change nothing`() {
    var step = Transcript()
    step.becomeLive()
    _ = step(.outbox(.added(number: 1, model: 0)))
    #expect(step(.stop) == [.disconnect])
    #expect(step(.uploaded(generation: 1, number: 1, nil, position: 3)) == [])
    #expect(step(.feed(generation: 1, [], cursor: nil, position: 4)) == [])
    #expect(step(.start) == [.subscribe(generation: 3)])
    #expect(step(.clear) == [.disconnect, .clearStore])
    #expect(step(.timer) == [])
  }

  @Test func `credentials that cannot be refreshed make the engine wait, not drop`() {
    var step = Transcript()
    step.becomeLive()
    #expect(step(.disconnected(generation: 1, .unauthorized)) == [.disconnect, .refreshCredentials(generation: 2)])
    let actions = step(.credentials(generation: 2, isRefreshed: false))
    #expect(actions == [.wake(at: step.now + .milliseconds(100))])
    step.now = step.now + .milliseconds(100)
    #expect(step(.timer) == [.subscribe(generation: 3)])
  }
}
