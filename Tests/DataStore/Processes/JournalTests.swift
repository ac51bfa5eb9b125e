import Foundation
import MartletDataStore
import MartletGraphQLClient
import MartletRuntime
import MartletStore
import Testing

/// Two stores on one file, of which one does its work when the test says so.
@Suite(.timeLimit(.minutes(1))) struct JournalTests {
  /// A store's work, which is done when the test says so.
  private final class HandLane: StoreLane {
    private let waiting = Lock<[@Sendable () -> Void]>([])

    func execute(_ work: @escaping @Sendable () -> Void) { waiting.withLock { $0.append(work) } }
    func stop() {}
    func end() {}

    var count: Int { waiting.withLock { $0.count } }

    /// Does the work that is there, and what it leads to.
    func run() {
      while let next = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { next() }
    }

    /// Returns the answer to a call of the store once its work is done.
    func perform<Value: Sendable>(_ call: @escaping @Sendable () async throws -> Value) async throws -> Value {
      let task = Task { try await call() }
      while count == 0 { await Task.yield() }
      run()
      return try await task.value
    }
  }

  private static func store(_ path: String, _ lane: HandLane) throws -> DataStore {
    var surroundings = StoreSurroundings.system
    surroundings.thread = { lane }
    return try DataStore(models: [Post.self], storage: .file(path), sync: nil, on: surroundings)
  }

  private static func withFolder(_ body: (String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder.appendingPathComponent("store.sqlite").path)
  }

  private static func fill(_ store: DataStore, transactions: Int, of count: Int) async throws {
    for number in 0..<transactions {
      try await store.transaction { transaction in
        for place in 0..<count { try transaction.save(post(number * count + place)) }
      }
    }
  }

  @Test func `P4: an observer that is behind other processes by more than they keep misses changes without an error`()
    async throws
  {
    try await Self.withFolder { path in
      let lane = HandLane()
      let lagging = try Self.store(path, lane)
      let observed = lagging.observe(Post.self)
      var snapshots = lagging.observeQuery(for: Post.self).makeAsyncIterator()
      lane.run()
      #expect(try await snapshots.next()?.items.isEmpty == true)
      let other = try DataStore(models: [Post.self], storage: .file(path))
      lane.run()
      try await Self.fill(other, transactions: 11, of: 1_000)
      while lane.count == 0 { await Task.yield() }
      lane.run()
      #expect(try await snapshots.next()?.items.count == 11_000)
      var events = observed.makeAsyncIterator()
      let error = await #expect(throws: GraphQLClientError.self) { try await events.next() }
      #expect(error?.code == .slowConsumer)
      // What comes later is complete again.
      let next = lagging.observe(Post.self)
      lane.run()
      try await other.save(post(-1))
      while lane.count == 0 { await Task.yield() }
      lane.run()
      var later = next.makeAsyncIterator()
      #expect(try await later.next()?.modelId == "p-1")
    }
  }

  @Test func `P2: an observer misses a transaction of its own process because another process has the store open`()
    async throws
  {
    try await Self.withFolder { path in
      let store = try DataStore(models: [Post.self], storage: .file(path))
      let other = try DataStore(models: [Post.self], storage: .file(path))
      let observed = store.observe(Post.self, where: Post.keys.rating > 0.0)
      try await observed.ready()
      try await store.transaction { transaction in
        for number in 0..<10_100 { try transaction.save(post(number, rating: number % 2_000 == 0 ? 1 : 0)) }
      }
      var events = observed.makeAsyncIterator()
      var found: [String] = []
      for _ in 0..<6 { found.append(try #require(try await events.next()).modelId) }
      #expect(found == ["p0", "p2000", "p4000", "p6000", "p8000", "p10000"])
      #expect(try await other.query(Post.self).count == 10_100)
    }
  }

  @Test func `P6: a change of a process that has ended since is taken for later than one made after it`() async throws {
    try await Self.withFolder { path in
      let (lane, otherLane) = (HandLane(), HandLane())
      let store = try Self.store(path, lane)
      _ = try await lane.perform { try await store.save(post(1, "first")) }
      var snapshots = store.observeQuery(for: Post.self).makeAsyncIterator()
      let observed = store.observe(Post.self)
      lane.run()
      #expect(try await snapshots.next()?.items.map(\.title) == ["first"])
      var other: DataStore? = try Self.store(path, otherLane)
      otherLane.run()
      lane.run()
      let own = Task { try await store.save(post(1, "third")) }
      // Its commit, and what resumes the streams.
      while lane.count == 0 { await Task.yield() }
      if let other { _ = try await otherLane.perform { try await other.save(post(1, "second")) } }
      other = nil
      otherLane.run()
      lane.run()
      _ = try await own.value
      #expect(try await snapshots.next()?.items.map(\.title) == ["third"])
      var events = observed.makeAsyncIterator()
      var found: [String] = []
      for _ in 0..<2 {
        found.append(try #require(try await events.next()).decodeModel(as: Post.self).title)
      }
      #expect(found == ["second", "third"])
    }
  }

  @Test func `P9: what other processes do while a store is stopped is kept without bounds`() async throws {
    try await Self.withFolder { path in
      let store = try DataStore(models: [Post.self], storage: .file(path))
      let other = try DataStore(models: [Post.self], storage: .file(path))
      let observed = store.observe(Post.self)
      let left = store.observe(Post.self)
      let few = store.observe(Post.self, where: Post.keys.id == "p5")
      for stream in [observed, left, few] { try await stream.ready() }
      try await store.stop()
      try await Self.fill(other, transactions: 1, of: 10)
      while try await store.heldEvents() < 21 { await Task.yield() }
      left.cancel()
      #expect(try await store.heldEvents() == 11)
      try await Self.fill(other, transactions: 21, of: 500)
      while try await store.heldEvents() != 2 { await Task.yield() }
      try await store.start()
      var events = observed.makeAsyncIterator()
      let error = await #expect(throws: GraphQLClientError.self) { while try await events.next() != nil {} }
      #expect(error?.code == .slowConsumer)
      var others = few.makeAsyncIterator()
      #expect(try await others.next()?.mutationType == .create)
    }
  }
}
