import Martlet
import MartletDataStore

/// Follows the posts that are found by a predicate, in their order, in a loop, and ends it by `cancel()`.
final class PostList {
  private var postsSubscription: MartletAsyncThrowingSequence<DataStoreQuerySnapshot<LocalPost>>?
  private let store: DataStore
  private let told: Transcript

  init(_ store: DataStore, _ told: Transcript) {
    self.store = store
    self.told = told
  }

  func subscribeToPosts() async {
    let post = LocalPost.keys
    let postsSubscription = store.observeQuery(
      for: LocalPost.self,
      where: post.title.beginsWith("post") && post.rating > 10.0,
      sort: .ascending(post.rating)
    )
    self.postsSubscription = postsSubscription
    do {
      for try await snapshot in postsSubscription {
        told.tell("item count: \(snapshot.items.count), isSynced: \(snapshot.isSynced)")
        if snapshot.items.count == 2 { unsubscribeFromPosts() }
      }
      told.tell("the loop has ended")
    } catch {
      told.tell("the loop has failed with \(error)")
    }
  }

  func unsubscribeFromPosts() { postsSubscription?.cancel() }
}

/// Models that a server has, too: what this device has is shown at once, then what the sync brings, then each change.
enum SyncedPosts: Stop {
  static let title = "Posts of this device and of a server"

  static func visit(_ visit: Visit) async throws {
    let told = visit.told
    try await add("2", "post two", 12)
    try await add("3", "another", 20)
    var settings = ConnectionConfiguration()
    // The server cannot be reached before the first snapshot has been shown.
    settings.credentials = { _ in
      try await told.wait { !$0.isEmpty }
      return Credentials()
    }
    let client = try GraphQLClient(url: visit.server.url, configuration: settings)
    var configuration = DataStoreConfiguration()
    // What the sync changes comes in one snapshot however slow the machine is.
    configuration.snapshotInterval = .seconds(600)
    let store = try DataStore(
      models: [LocalPost.self], storage: .inMemory,
      sync: DataStoreSync(client.networkTransport, configuration: configuration))
    try await withThrowingTaskGroup { group in
      group.addTask { await PostList(store, told).subscribeToPosts() }
      try await told.wait(for: "item count: 1, isSynced: true")
      try await add("4", "post four", 10.5)
      try await group.waitForAll()
    }
    try await store.submit(LocalPost(id: "1", title: "post one", rating: 11)).reached(.durable)
    let posts = try await Martlet.API.query(request: .list(LocalPost.self)).get()
    told.tell("the server has \(posts.items.count) posts")
    try await store.stop()
    client.shutDown()
    try await visit.server.has(0)
  }

  /// Somebody else writes a post.
  private static func add(_ id: String, _ title: String, _ rating: Double) async throws {
    _ = try await Martlet.API.mutate(request: .create(LocalPost(id: id, title: title, rating: rating))).get()
  }
}
