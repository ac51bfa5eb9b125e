import MartletDataStore
import MartletGraphQLClient
import MartletRuntime
import MartletStore
import Testing

@Suite struct FirstSnapshotTests {
  /// A store's work, which is done when the test says so.
  private final class HandLane: StoreLane {
    private let waiting = Lock<[@Sendable () -> Void]>([])

    func execute(_ work: @escaping @Sendable () -> Void) { waiting.withLock { $0.append(work) } }
    func stop() {}
    func end() {}

    /// How much work there is.
    var count: Int { waiting.withLock { $0.count } }

    func run(_ pieces: Int) {
      for _ in 0..<pieces {
        let next = waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        next?()
      }
    }
  }

  /// A server that never answers.
  private struct Silent: NetworkTransport {
    func send(_ request: OperationRequest) async throws -> OperationPayload { throw CancellationError() }
    func subscribe(_ request: OperationRequest, feeding feed: SubscriptionFeed) throws {}
  }

  /// The sync's first work reads all writes that were not sent, which may be many.
  @Test func `a first snapshot does not wait for the start of the sync`() async throws {
    let lane = HandLane()
    var surroundings = StoreSurroundings.system
    surroundings.thread = { lane }
    let store = try DataStore(
      models: [Post.self], storage: .inMemory, sync: DataStoreSync(Silent()), on: surroundings)
    lane.run(lane.count)
    let posts = store.observeQuery(for: Post.self)
    #expect(lane.count == 2, "the query's work, and the sync's")
    lane.run(1)
    let isThere = if case .active = posts.state { true } else { false }
    try #require(isThere, "the sync's work comes first")
    var snapshots = posts.makeAsyncIterator()
    #expect(try await snapshots.next()?.isSynced == false)
    posts.cancel()
  }
}
