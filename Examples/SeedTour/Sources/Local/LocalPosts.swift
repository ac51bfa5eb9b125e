import Martlet
import MartletDataStore
import MartletPublishers

/// A post of the store on this device.
struct LocalPost: Model {
  var id: String
  var title: String
  var rating: Double
  enum CodingKeys: String, ModelKey { case id, title, rating }
}

/// Follows every change of the posts in a loop, and ends it by `cancel()`.
final class PostChanges {
  private var postsSubscription: MartletAsyncThrowingSequence<MutationEvent>?
  private let told: Transcript

  init(_ told: Transcript) { self.told = told }

  func subscribeToPosts() async {
    let postsSubscription = Martlet.DataStore.observe(LocalPost.self)
    self.postsSubscription = postsSubscription
    do {
      try await postsSubscription.ready()
      told.tell("the loop is ready")
      for try await changes in postsSubscription {
        told.tell("loop: \(changes.mutationType) \(changes.modelId)")
        if changes.mutationType == .delete { unsubscribeFromPosts() }
      }
      told.tell("loop: ended")
    } catch {
      told.tell("loop: failed with \(error)")
    }
  }

  func unsubscribeFromPosts() { postsSubscription?.cancel() }
}

/// The same by a publisher, which is cancelled by what it returned.
final class PostChangeSink {
  private var postsSubscription: AnyCancellable?
  private let told: Transcript

  init(_ told: Transcript) { self.told = told }

  func subscribeToPosts() {
    let told = self.told
    postsSubscription = Martlet.Publisher.create(Martlet.DataStore.observe(LocalPost.self))
      .sink {
        if case .failure(let error) = $0 { told.tell("sink: failed with \(error)") }
      } receiveValue: { changes in
        told.tell("sink: \(changes.mutationType) \(changes.modelId)")
      }
  }

  func unsubscribeFromPosts() { postsSubscription?.cancel() }
}

/// Follows the posts that are found by a predicate, in their order, by a publisher.
final class PostQuery {
  private var postsSubscription: AnyCancellable?
  private let told: Transcript

  init(_ told: Transcript) { self.told = told }

  func subscribeToPosts() {
    let told = self.told
    let post = LocalPost.keys
    postsSubscription = Martlet.Publisher.create(
      Martlet.DataStore.observeQuery(
        for: LocalPost.self,
        where: post.title.beginsWith("post") && post.rating > 10.0,
        sort: .ascending(post.rating)
      )
    )
    .sink {
      if case .failure(let error) = $0 { told.tell("query: failed with \(error)") }
    } receiveValue: { snapshot in
      let posts = snapshot.items.map { "\($0.id) (\($0.rating))" }.joined(separator: ", ")
      told.tell("query: [\(posts)], synced: \(snapshot.isSynced)")
    }
  }

  func unsubscribeFromPosts() { postsSubscription?.cancel() }
}

/// Local models: changes and live queries, without a server. Stopping and clearing keep both connected and silent.
enum LocalPosts: Stop {
  static let title = "Posts on this device, in a loop and by publishers"

  static func visit(_ visit: Visit) async throws {
    let told = visit.told
    let store = try DataStore(models: [LocalPost.self], storage: .inMemory)
    Martlet.configure(dataStore: store)
    try await Martlet.DataStore.save(LocalPost(id: "1", title: "post one", rating: 11))
    let query = PostQuery(told)
    query.subscribeToPosts()
    try await told.wait(for: "query: [1 (11.0)], synced: true")
    try await Martlet.DataStore.save(LocalPost(id: "2", title: "post two", rating: 10.5))
    try await told.wait(for: "query: [2 (10.5), 1 (11.0)], synced: true")
    try await Martlet.DataStore.clear()
    told.tell("cleared")
    try await Martlet.DataStore.start()
    try await told.wait(for: "query: [], synced: true")
    query.unsubscribeFromPosts()

    try await withThrowingTaskGroup { group in
      group.addTask { await PostChanges(told).subscribeToPosts() }
      try await told.wait(for: "the loop is ready")
      try await Martlet.DataStore.save(LocalPost(id: "3", title: "post three", rating: 12))
      try await told.wait(for: "loop: create 3")
      try await Martlet.DataStore.delete(LocalPost.self, withId: "3")
      try await group.waitForAll()
    }

    let sink = PostChangeSink(told)
    sink.subscribeToPosts()
    try await Martlet.DataStore.save(LocalPost(id: "4", title: "post four", rating: 13))
    try await told.wait(for: "sink: create 4")
    try await Martlet.DataStore.stop()
    told.tell("stopped")
    // The next operation lets streams continue.
    try await Martlet.DataStore.delete(LocalPost.self, withId: "4")
    try await told.wait(for: "sink: delete 4")
    sink.unsubscribeFromPosts()
    try await Martlet.DataStore.save(LocalPost(id: "5", title: "post five", rating: 14))
    told.tell("sink: cancelled")
  }
}
