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

  @Test(arguments: [false, true])
  func `defect 10: a model whose new sync meets the cap counts as synced no more, also when the feed resumes`(
    isReplacement: Bool
  ) {
    let progress = ModelProgress(lastSync: 1, completedAt: 1_000_000)
    var step = SyncEngineTests.Transcript(progress: [progress], configure: { $0.syncMaxRecords = 2 })
    _ = step(.start)
    _ = step(.subscribed(generation: 1, resumed: false, cursor: "a"))
    var page = SyncEngineTests.page([SyncEngineTests.change("a", 1), SyncEngineTests.change("b", 2)], next: "more")
    page.isFull = isReplacement
    let actions = step(.page(generation: 1, model: 0, page))
    #expect(step.hub.contains(.modelTruncated(model: 0, limit: 2)))
    #expect(actions.contains(.finishModel(model: 0, ModelProgress(), sweepBefore: nil)))
    _ = step(.disconnected(generation: 1, .network))
    _ = step(.reachable)
    let resumed = step(.subscribed(generation: step.engine.generation, resumed: true, cursor: nil))
    #expect(!step.engine.isSynced(model: 0) && !step.engine.isSettled)
    #expect(resumed.contains(.query(generation: step.engine.generation, model: 0, .full, nextToken: nil)))
  }
}
