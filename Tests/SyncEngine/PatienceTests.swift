import MartletJSON
import MartletModels
import MartletSyncEngine
import MartletVocabulary
import Testing

/// How long the engine waits before it repeats what has failed, and what it does not wait for.
@Suite struct PatienceTests {
  private typealias Transcript = SyncEngineTests.Transcript

  /// Carries on until the engine waits for a time; returns the delay. Each page query fails with `failure`.
  private static func fail(_ step: inout Transcript, _ failure: SyncFailure) -> Duration? {
    var actions = step(.subscribed(generation: step.engine.generation, resumed: false, cursor: "c"))
    for _ in 0..<10 {
      let generation = step.engine.generation
      if actions.contains(where: { if case .query = $0 { true } else { false } }) {
        actions = step(.queryFailed(generation: generation, model: 0, failure))
      } else if actions.contains(.refreshCredentials(generation: generation)) {
        actions = step(.credentials(generation: generation, isRefreshed: true))
      } else if actions.contains(.subscribe(generation: generation)) {
        actions = step(.subscribed(generation: generation, resumed: false, cursor: "c"))
      }
      let wakes = actions.compactMap { if case .wake(let time) = $0 { time } else { nil } }
      guard let time = wakes.first else { continue }
      defer { step.now = time }
      return time - step.now
    }
    return nil
  }

  @Test(arguments: [SyncFailure.network, .overloaded(retryAfter: nil), .unauthorized, .forbidden])
  func `pages that fail each time are asked for after longer and longer pauses, though subscribing succeeds`(
    failure: SyncFailure
  ) {
    var step = Transcript()
    _ = step(.start)
    var delays: [Duration?] = []
    for _ in 0..<5 {
      delays.append(Self.fail(&step, failure))
      _ = step(.timer)
    }
    #expect(delays == [100, 200, 400, 800, 1_600].map { .milliseconds($0) })
  }

  @Test func `a model that is synced at last makes the next failure the first one again`() {
    var step = Transcript(models: [.init(), .init()])
    _ = step(.start)
    _ = Self.fail(&step, .network)
    _ = step(.timer)
    _ = Self.fail(&step, .network)
    _ = step(.timer)
    _ = step(.subscribed(generation: step.engine.generation, resumed: false, cursor: "c"))
    _ = step(.page(generation: step.engine.generation, model: 0, SyncEngineTests.page()))
    let now = step.now
    let actions = step(.queryFailed(generation: step.engine.generation, model: 1, .network))
    #expect(actions.contains(.wake(at: now + .milliseconds(100))))
  }

  @Test func `P14: a model that meets the cap on records does not hold up the writes, its own and those after them`() {
    var step = Transcript(models: [.init(), .init()], pending: [(1, 0), (2, 1)], configure: { $0.syncMaxRecords = 1 })
    _ = step(.start)
    _ = step(.subscribed(generation: 1, resumed: false, cursor: "c"))
    let page = SyncEngineTests.page([SyncEngineTests.change("a", 1)], next: "more")
    #expect(step(.page(generation: 1, model: 0, page)).contains(.upload(generation: 1, number: 1)))
    let answered = step(.uploaded(generation: 1, number: 1, nil, position: 20))
    #expect(!answered.contains(.upload(generation: 1, number: 2)))
    #expect(step(.page(generation: 1, model: 1, SyncEngineTests.page())).contains(.upload(generation: 1, number: 2)))
    #expect(!step.engine.isSynced(model: 0))
  }

  @Test func `a conflict that comes back after each retry is retried after longer and longer pauses`() {
    var step = Transcript()
    step.becomeLive()
    _ = step(.outbox(.added(number: 1, model: 0)))
    var number: Int64 = 1
    var delays: [Duration?] = []
    for version in Int64(2)...6 {
      let theirs = ServerImage(record: Record(values: ["x"]), version: version, position: version)
      _ = step(.uploadFailed(generation: 1, number: number, .conflict(theirs)))
      _ = step(.resolved(number: number, .retryLocal, newNumber: number + 1))
      let actions = step(.settled(number: number, .retried(as: number + 1)))
      number += 1
      if actions.contains(.upload(generation: 1, number: number)) {
        delays.append(nil)
        continue
      }
      let time = actions.compactMap { if case .wake(let time) = $0 { time } else { nil } }.first
      delays.append(time.map { $0 - step.now })
      step.now = time ?? step.now
      #expect(step(.timer).contains(.upload(generation: 1, number: number)))
    }
    #expect(delays == [nil] + [100, 200, 400, 800].map { .milliseconds($0) })
  }

  @Test func `the handler is not asked about a record that the server has deleted: its answer would change nothing`() {
    var step = Transcript()
    step.becomeLive()
    _ = step(.outbox(.added(number: 1, model: 0)))
    let gone = ServerImage(record: nil, version: 3, position: 30)
    #expect(
      step(.uploadFailed(generation: 1, number: 1, .conflict(gone))) == [
        .resolve(number: 1, .applyRemote, gone, newNumber: 1)
      ])
  }
}
