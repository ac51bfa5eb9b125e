import MartletDataStore
import MartletPublishers
import Testing

/// The samples of seed 001, with the name of the namespace changed and printing replaced by noting.
@Suite struct SeedSampleTests {
  final class Observing {
    // You must hold a reference to your subscription.
    var postsSubscription: MartletAsyncThrowingSequence<MutationEvent>?
    var changes: [String] = []
    /// What the test does once the subscription is there.
    var whenSubscribed: () async throws -> Void = {}

    // Then in the body of your code, subscribe to the subscription
    func subscribeToPosts(until count: Int) async {
      let postsSubscription = Martlet.DataStore.observe(Post.self)
      self.postsSubscription = postsSubscription
      do {
        try await whenSubscribed()
        for try await changes in postsSubscription {
          // handle incoming changes
          self.changes.append("Subscription received mutation: \(changes)")
          if self.changes.count == count { unsubscribeFromPosts() }
        }
      } catch {
        self.changes.append("Subscription received error: \(error)")
      }
    }

    // Then, when you're finished observing, cancel the subscription
    func unsubscribeFromPosts() {
      postsSubscription?.cancel()
    }
  }

  final class Querying {
    var postsSubscription: MartletAsyncThrowingSequence<DataStoreQuerySnapshot<Post>>?
    var lines: [String] = []

    func subscribeToPosts(until count: Int) async {
      let post = Post.keys
      let postsSubscription = Martlet.DataStore.observeQuery(
        for: Post.self,
        where: post.title.beginsWith("post") && post.rating > 10.0,
        sort: .ascending(post.rating)
      )
      // hold onto your subscription
      self.postsSubscription = postsSubscription
      do {
        // observe new snapshots
        for try await querySnapshot in postsSubscription {
          lines.append("[Snapshot] item count: \(querySnapshot.items.count), isSynced: \(querySnapshot.isSynced)")
          if querySnapshot.items.count == count { unsubscribeFromPosts() }
        }
      } catch {
        lines.append("Error: \(error)")
      }
    }

    // When you're finished observing, cancel the subscription
    func unsubscribeFromPosts() {
      postsSubscription?.cancel()
    }
  }

  /// One test, because the namespace's store is configured once in it. What other tests configure is not seen here.
  @Test func `the samples of seed 001 run over the namespace's store`() async throws {
    try await Martlet.$dataStoreHolder.withValue(DataStoreHolder()) { try await runSamples() }
  }

  private func runSamples() async throws {
    let early = await #expect(throws: DataStoreError.self) { try await Martlet.DataStore.query(Post.self) }
    #expect(early?.code == .notConfigured)

    Martlet.configure(dataStore: try DataStoreTests.store())
    for number in 1...3 { try await Martlet.DataStore.save(post(number, "post \(number)", rating: 10.5)) }
    let querying = Querying()
    await querying.subscribeToPosts(until: 3)
    #expect(querying.lines == ["[Snapshot] item count: 3, isSynced: true"])

    let observing = Observing()
    observing.whenSubscribed = {
      try await Martlet.DataStore.save(post(4))
      try await Martlet.DataStore.delete(post(4))
    }
    await observing.subscribeToPosts(until: 2)
    #expect(observing.changes.count == 2)
    #expect(observing.changes.first?.hasPrefix("Subscription received mutation: create Post p4 (local)") == true)

    let events = Martlet.DataStore.observe(Post.self)
    try await events.ready()
    let published = Noted()
    let cancellable = Martlet.Publisher.create(events).sink { _ in
    } receiveValue: { changes in
      published.note(changes.modelId)
    }
    try await Martlet.DataStore.save(post(9))
    #expect(await published.first() == "p9")
    cancellable.cancel()
  }

  @Test func `a store for a body is seen by its tasks, may be replaced in it and is gone after it`() async throws {
    let (first, second) = (try DataStoreTests.store(), try DataStoreTests.store())
    try await first.save(post(1, "first"))
    try await second.save(post(2, "second"))
    @Sendable func titles() async throws -> [String] { try await Martlet.DataStore.query(Post.self).map(\.title) }
    let outside = Martlet.$dataStoreHolder.get()
    let seen = try await Martlet.withDataStore(first) {
      let ofTask = try await Task { try await titles() }.value
      let within = try await Martlet.withDataStore(second) { try await titles() }
      let after = try await titles()
      Martlet.configure(dataStore: second)
      return [ofTask, within, after, try await titles()]
    }
    #expect(seen == [["first"], ["second"], ["first"], ["second"]])
    #expect(Martlet.$dataStoreHolder.get() === outside)
    let held = Martlet.withDataStore(first) { Martlet.DataStore }
    #expect(try await held.query(Post.self).map(\.title) == ["first"])
  }

  /// What a publisher's subscriber received.
  private final class Noted: Sendable {
    private let pipe = AsyncStream.makeStream(of: String.self)

    func note(_ text: String) { pipe.continuation.yield(text) }
    func first() async -> String? { await pipe.stream.first { _ in true } }
  }
}
