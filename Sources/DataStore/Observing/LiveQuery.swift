public import MartletGraphQLClient
internal import MartletLiveQueries
internal import MartletRuntime
public import Observation

/// The result of a live query for views: a main-actor object whose members change with the store.
///
///     let posts = LiveQuery(Post.self, where: Post.keys.rating > 3, sort: .descending(Post.keys.rating))
///     // in a view's body:
///     if posts.isLoading { ProgressView() }
///     ForEach(posts.items, id: \.id) { Text($0.title) }
///
/// Work starts when it is made and ends with the last reference to it, or by `cancel()`.
@Observable
@MainActor
public final class LiveQuery<M: Model> {
  /// The records, in the query's order; empty until the first result.
  public private(set) var items: DataStoreItems<M> = DataStoreItems()
  /// How the items differ from those before.
  public private(set) var changes = DataStoreChanges(ChangeSet())
  /// Whether the sync of this model has finished since `start()`.
  public private(set) var isSynced = false
  /// Whether the first result is still awaited.
  public private(set) var isLoading = true
  /// What the query ended with; nil while it runs, and after `cancel()`.
  public private(set) var error: (any Error)?

  @ObservationIgnored
  private let stream: SubscriptionStream<DataStoreQuerySnapshot<M>>

  /// Starts a live query.
  ///
  /// - Parameter store: the store; that of `Martlet.DataStore` by default.
  public init(
    _ type: M.Type, where predicate: QueryPredicate? = nil, sort: QuerySort? = nil, paginate page: QueryPage? = nil,
    in store: DataStore? = nil
  ) {
    let stream = (store ?? Martlet.DataStore).observeQuery(for: type, where: predicate, sort: sort, paginate: page)
    self.stream = stream
    // The task has the stream alone: this object can go while it waits, and ends it then.
    _ = ConcurrentSpawner().spawn { [weak self] in
      do {
        for try await snapshot in stream { await self?.take(snapshot) }
        await self?.end(nil)
      } catch {
        await self?.end(error)
      }
    }
  }

  deinit {
    stream.cancel()
  }

  /// Ends the query: its members stay as they are.
  public func cancel() { stream.cancel() }

  private func take(_ snapshot: DataStoreQuerySnapshot<M>) {
    // One that was on its way here when the query was cancelled is not shown.
    guard !stream.state.isFinished else { return }
    items = snapshot.items
    changes = snapshot.changes
    isSynced = snapshot.isSynced
    isLoading = false
  }

  private func end(_ error: (any Error)?) {
    self.error = error
    isLoading = false
  }
}
