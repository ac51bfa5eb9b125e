internal import MartletChangeFeed
internal import MartletRuntime
internal import MartletStore

/// Reads pages of the log; members that ask for the same page at the same time share one read.
///
/// Confined to its feed's loop.
final class LogPageReader {
  private struct Waiting {
    /// The page has to hold the change after this offset.
    let offset: Int64
    let completion: (GapReason?) -> Void
  }

  private unowned let feed: Feed
  private var pages: LogPages
  /// The callers that wait for a page, by the offset it begins after.
  private var waiting: [Int64: [Waiting]] = [:]

  init(_ feed: Feed) {
    self.feed = feed
    pages = LogPages(limit: feed.limits.catchUpPages)
  }

  /// The changes after `offset` up to the end of a page, and the models that have lost some there; nil when `read` has
  /// to be called.
  func page(after offset: Int64) -> (changes: ArraySlice<Change>, last: Int64, lost: [Int: Int64])? {
    pages.page(after: offset)
  }

  /// Forgets all pages, so that the log is read again.
  func forget() { pages = LogPages(limit: feed.limits.catchUpPages) }

  /// Reads the page that holds what follows `offset`. `completion` runs on the loop, with the reason if the log no
  /// longer has it.
  func read(after offset: Int64, _ completion: @escaping (GapReason?) -> Void) {
    let first = feed.store.position.firstRetained
    guard offset + 1 >= first else { return completion(.retention) }
    // Pages begin at round offsets, so that returning clients with different cursors share them.
    let size = Int64(feed.limits.catchUpChanges)
    let round = max(offset / size * size, first - 1)
    read(from: pages.start(from: round, towards: offset), Waiting(offset: offset, completion: completion))
  }

  private func read(from start: Int64, _ caller: Waiting) {
    waiting[start, default: []].append(caller)
    guard waiting[start]?.count == 1 else { return }
    feed.counters.add(.catchUpReads)
    let count = feed.limits.catchUpChanges
    let written = feed.applied
    let request = ReadRequest { snapshot throws(StoreError) in
      try snapshot.log(after: start, changes: count, written: written)
    } completion: { [bound = feed.bound] (result: Result<LogRange, StoreError>) in
      bound.value.pages.received(result, from: start)
    }
    feed.store.read([request], to: feed.destination)
  }

  private func received(_ result: Result<LogRange, StoreError>, from start: Int64) {
    let callers = waiting.removeValue(forKey: start) ?? []
    switch result {
    case .success(.changes(let changes, let last, _, let lost)):
      pages.keep(changes, after: start, through: last, lost: lost)
      for caller in callers {
        // Large records end a page early, by bytes: such a caller needs the next one.
        if last > start, last <= caller.offset {
          read(from: last, caller)
        } else {
          caller.completion(nil)
        }
      }
    case .success(.gap(let reason)):
      for caller in callers { caller.completion(reason) }
    case .success(.damaged): refuse(callers, from: start)
    case .failure(let error) where !error.isRetryable: refuse(callers, from: start)
    case .failure:
      // The store is overloaded or closing: the callers try again while their connections live.
      feed.loop.schedule(at: feed.loop.now + feed.limits.readRetry) {
        for caller in callers { caller.completion(nil) }
      }
    }
  }

  /// What follows `start` is damaged. That concerns callers at this offset; those after it read from their own.
  private func refuse(_ callers: [Waiting], from start: Int64) {
    for caller in callers {
      if caller.offset > start { read(from: caller.offset, caller) } else { caller.completion(.damage) }
    }
  }
}
