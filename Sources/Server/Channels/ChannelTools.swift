internal import MartletChangeFeed
internal import MartletChannels
internal import MartletRuntime
internal import MartletStore
internal import MartletVocabulary

/// What a channel works with. Confined to its loop.
struct ChannelTools {
  let loop: any Loop
  let feed: Feed
  let calendar: Calendar
  let limits: ServerLimits.Channels
  let log: Log

  /// Milliseconds since 1970.
  var now: Int64 {
    let (seconds, attoseconds) = calendar.sinceEpoch().components
    return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
  }

  /// The cursor of an offset, with the term that wrote it, so that an event has the same id after a restart.
  func cursor(at offset: Int64) -> Cursor {
    let lineage = feed.store.lineage
    let term = lineage.entries.last { $0.firstOffset <= offset }?.term
    return Cursor(term: term ?? lineage.currentTerm, offset: offset)
  }

  /// Runs `work` at a time of the calendar.
  func schedule(at time: Int64, _ work: @escaping () -> Void) -> LoopTimer {
    loop.schedule(at: loop.now + .milliseconds(max(0, time - now)), work)
  }
}

extension DeliveryPolicy {
  init(_ limits: ServerLimits.Channels) {
    self.init()
    attempts = limits.attempts
    firstPause = limits.firstPause.atLeastOneMillisecond
    longestPause = limits.longestPause.atLeastOneMillisecond
    queuedEvents = limits.queuedEvents
    queuedBytes = limits.queuedBytes
    deadLetters = limits.deadLetters
    deadLetterBytes = limits.deadLetterBytes
  }
}

extension RecordPace {
  init(_ limits: ServerLimits.Channels) {
    self.init()
    interval = limits.recordInterval.atLeastOneMillisecond
    idleInterval = limits.idleRecordInterval.atLeastOneMillisecond
  }
}

extension Duration {
  /// Milliseconds, and at least one: a pause of nothing would be none.
  fileprivate var atLeastOneMillisecond: Int64 { max(1, wholeNanoseconds / 1_000_000) }
}
