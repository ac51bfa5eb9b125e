import MartletJSON
import MartletModels
import MartletSyncEngine
import Testing

/// Defects of Amplify's sync engine that are the engine's decisions, each by its number.
@Suite struct SyncDefectTests {
  private static func record(_ values: JSONValue...) -> Record { Record(values: values) }

  @Test func `defect 8: a conflict on a creation is settled, and the local row follows the server`() throws {
    var replica = RecordReplica()
    _ = try replica.save(Self.record("a", 1), number: 1)
    replica.send(1)
    let server = ServerImage(record: Self.record("a", 9), version: 4, position: 7)
    let letters = replica.resolve(1, .applyRemote, server, newNumber: 2)
    #expect(letters.map(\.reason) == [.conflict])
    #expect(replica.visible == server.record)
    #expect(replica.pending.isEmpty)
  }

  @Test func `the first page's cursor is stored once all models are synced, when the feed gave none`() {
    var step = SyncEngineTests.Transcript(models: [.init(), .init()])
    _ = step(.start)
    _ = step(.subscribed(generation: 1, resumed: false, cursor: nil))
    var first = SyncEngineTests.page(position: 10)
    first.cursor = "t-10"
    #expect(!step(.page(generation: 1, model: 0, first)).contains(.apply([], cursor: "t-10")))
    var second = SyncEngineTests.page(position: 14)
    second.cursor = "t-14"
    #expect(step(.page(generation: 1, model: 1, second)).contains(.apply([], cursor: "t-10")))
  }

  /// An engine whose model was synced once, after a page that meets the cap.
  private static func truncated(
    isReplacement: Bool = true, resumed: Bool = false, cursor: String?, pageCursor: String? = nil
  ) -> (SyncEngineTests.Transcript, [SyncAction]) {
    let progress = ModelProgress(lastSync: 1, completedAt: 1_000_000)
    var step = SyncEngineTests.Transcript(progress: [progress], configure: { $0.syncMaxRecords = 2 })
    _ = step(.start)
    _ = step(.subscribed(generation: 1, resumed: resumed, cursor: cursor))
    var page = SyncEngineTests.page([SyncEngineTests.change("a", 1), SyncEngineTests.change("b", 2)], next: "more")
    page.isFull = isReplacement
    page.cursor = pageCursor
    let actions = step(.page(generation: 1, model: 0, page))
    return (step, actions)
  }

  @Test(arguments: [false, true])
  func `defect 10: a model whose new sync meets the cap counts as synced no more, also when the feed resumes`(
    isReplacement: Bool
  ) {
    var (step, actions) = Self.truncated(isReplacement: isReplacement, cursor: "a")
    #expect(step.hub.contains(.modelTruncated(model: 0, limit: 2)))
    #expect(actions.contains { if case .finishModel(0, ModelProgress(), _) = $0 { true } else { false } })
    _ = step(.disconnected(generation: 1, .network))
    _ = step(.reachable)
    let resumed = step(.subscribed(generation: step.engine.generation, resumed: true, cursor: nil))
    #expect(!step.engine.isSynced(model: 0) && !step.engine.isSettled)
    // Its pages would bring the records that it has.
    let queries = resumed.filter { if case .query = $0 { true } else { false } }
    #expect(step.engine.phase == .live && queries.isEmpty)
  }

  @Test(arguments: [("a", nil, 10), (nil, "a", 10), (nil, nil, nil)] as [(String?, String?, Int64?)])
  func `what a truncated sync leaves out stays, unless a feed that could have continued has a gap`(
    cursor: String?, pageCursor: String?, sweepBefore: Int64?
  ) {
    let (_, actions) = Self.truncated(cursor: cursor, pageCursor: pageCursor)
    #expect(actions.contains(.finishModel(model: 0, ModelProgress(), sweepBefore: sweepBefore)))
  }
}
