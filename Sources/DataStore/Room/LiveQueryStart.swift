internal import MartletGraphQLClient
internal import MartletLiveQueries
internal import MartletRuntime
internal import MartletStore

/// The start of one live query: its first rows are read, and it is added to those that follow the commits.
struct LiveQueryStart: Sendable {
  /// Reads what the query shows first, and returns what adds the query with it.
  typealias FirstRows = @Sendable (any ClientReading) throws(StoreError) -> ((inout LiveQuerySet) -> LiveQueryID)

  let streams: StoreStreams
  let watcher: LiveState.Watcher
  let read: FirstRows

  /// On the store's thread, after everything given to it before. The rows are read while consumers of other queries
  /// take theirs.
  func inTurn() {
    streams.thread.execute {
      guard !watcher.core.state.isFinished else { return }
      // What other processes have done is taken first, so that all queries are of one state.
      var failure: DataStoreError?
      let unread = streams.publish(ClientWriter.Commit(), .local) {
        do throws(StoreError) {
          let add = try read(streams.writer)
          failure = streams.live.withLock { live in self.add(add, streams.writer, to: &live) }
        } catch {
          failure = StoreRoom.error(error)
        }
      }
      end(failure ?? unread)
    }
  }

  /// While a transaction may run on the store's thread: with rows that another connection reads, of the state that the
  /// other live queries have. The transaction's changes are then its first.
  ///
  /// - Parameter attempts: how often the rows are read, while commits come in between, before it waits for its turn.
  func beside(attempts: Int) {
    streams.lane.run { reader in
      for left in (0..<attempts).reversed() {
        if watcher.core.state.isFinished { return }
        let deliveries = streams.live.withLock { $0.front.deliveries }
        let outcome = try reader.reading { store -> Outcome in
          let add = try read(store)
          let entry = try reader.entry()
          return streams.live.withLock { live in
            guard live.front.isOf(deliveries: deliveries, entry: entry) else { return .otherState }
            return .added(self.add(add, store, to: &live))
          }
        }
        switch outcome {
        case .added(let failure): return end(failure)
        // The tables are others than the connection was opened for.
        case nil: return inTurn()
        case .otherState:
          let waits = left > 0 && streams.live.withLock { live in live.front.wait { beside(attempts: left) } }
          if waits { return }
        }
      }
      inTurn()
    } otherwise: {
      inTurn()
    }
  }

  private enum Outcome {
    case added(DataStoreError?)
    case otherState
  }

  private func add(
    _ add: (inout LiveQuerySet) -> LiveQueryID, _ store: any ClientReading, to live: inout LiveState
  ) -> DataStoreError? {
    let id = add(&live.set)
    live.add(watcher, of: id)
    return streams.fill([id], &live, store)
  }

  /// It has its first rows, or cannot have them.
  private func end(_ failure: DataStoreError?) {
    // The consumer may have left in between.
    if watcher.core.state.isFinished { return streams.leave(watcher) }
    if let failure { return watcher.core.leave(.error(failure)) }
    watcher.core.move(to: .active)
    streams.announce()
  }
}
