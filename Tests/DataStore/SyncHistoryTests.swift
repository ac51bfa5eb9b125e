import MartletVocabulary
import Testing

@testable import MartletDataStore

/// When the server has to judge what a store's positions come from. A cursor is a run of the server and an offset.
@Suite struct SyncHistoryTests {
  private func cursor(_ run: UInt64, _ offset: Int64) -> Cursor { Cursor(term: run, offset: offset) }

  @Test func `the feed's cursor says enough where it has passed all answers`() {
    var history = SyncHistory(feed: cursor(1, 40), ahead: cursor(1, 40))
    #expect(history.toJudge == nil)
    let known = [history.agrees(with: cursor(2, 45)), history.takes(cursor(2, 46))]
    #expect(known == [true, true])
    #expect(history.ahead == cursor(2, 46))
  }

  @Test func `P19: an answer that is ahead of the feed is judged once another run of the server answers`() {
    var history = SyncHistory(feed: cursor(1, 40))
    let known = [history.takes(cursor(1, 60)), history.takes(cursor(1, 50))]
    #expect(known == [true, true])
    let unknown = [history.agrees(with: cursor(2, 45)), history.takes(cursor(2, 70))]
    #expect(unknown == [false, false])
    #expect(history.toJudge == cursor(1, 60))
    history.judged(at: cursor(2, 70))
    #expect(history.toJudge == nil)
    let later = [history.takes(cursor(2, 71)), history.agrees(with: cursor(3, 71))]
    #expect(later == [true, false])
    #expect(history.toJudge == cursor(2, 71))
  }

  @Test func `P19: an answer that comes after the feed has left its run of the server is not taken`() {
    var history = SyncHistory(feed: cursor(1, 40))
    let early = [history.takes(cursor(1, 41)), history.agrees(with: cursor(1, 41))]
    history.feed = cursor(1, 41)
    // The feed resumes in the next run, which may be on a copy that ends at 41.
    let resumed = history.agrees(with: cursor(2, 42))
    let late = [history.takes(cursor(1, 43)), history.takes(cursor(1, 42)), history.takes(cursor(2, 43))]
    #expect(early == [true, true] && resumed)
    #expect(late == [false, false, true])
    #expect(history.ahead == cursor(2, 43))
  }

  @Test func `P19: what an interrupted first sync has stored is judged when the store is opened again`() {
    let history = SyncHistory(feed: nil, ahead: cursor(1, 60))
    #expect(history.toJudge == cursor(1, 60))
  }

  @Test func `a feed that passes an answer takes over from it`() {
    var history = SyncHistory(feed: cursor(1, 40))
    let isTaken = history.takes(cursor(1, 60))
    history.feed = cursor(1, 60)
    let agrees = history.agrees(with: cursor(2, 61))
    #expect(isTaken && agrees)
    #expect(history.toJudge == nil)
  }

  @Test func `P19: a feed that restarts leaves its cursor to be judged, for the positions that were stored with it`() {
    var history = SyncHistory(feed: cursor(1, 40), ahead: cursor(1, 30))
    history.judged(at: cursor(1, 30))
    history.forgetFeed()
    #expect(history.feed == nil && history.toJudge == cursor(1, 40) && history.isUnsaved)
    // What is judged already, or was ahead of the feed, stands for all.
    history.judged(at: cursor(1, 50))
    history.feed = cursor(1, 50)
    history.forgetFeed()
    #expect(history.feed == nil && history.toJudge == nil)
  }
}
