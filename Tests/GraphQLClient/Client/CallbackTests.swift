import Foundation
import Martlet
import Testing

/// What a view's owner looks like: on the main actor, and without an annotation on any closure.
@MainActor private final class HeroList {
  private(set) var names: [String] = []
  private(set) var errors = 0
  private var subscription: (any Cancellable)?
  private var following: Task<Void, Never>?
  private let tell: @Sendable () -> Void

  init(tell: @escaping @Sendable () -> Void) {
    self.tell = tell
  }

  func begin(_ client: GraphQLClient) {
    subscription = client.subscribe(subscription: Hero.Changed()) { [weak self] result in
      self?.show(result)
    }
  }

  func load(_ client: GraphQLClient) {
    client.fetch(query: Hero.Query()) { result in
      switch result {
      case .success(let answer): self.names.append(answer.data?.hero?.name ?? "-")
      case .failure: self.errors += 1
      }
      self.tell()
    }
  }

  func rename(_ client: GraphQLClient, to name: String) {
    client.perform(mutation: Hero.Rename(name: name)) { result in
      self.names.append((try? result.get().data?.rename?.name) ?? "-")
      self.tell()
    }
  }

  func watch(_ client: GraphQLClient) -> OperationHandle {
    client.watch(query: Hero.Query()) { self.show($0) }
  }

  /// The same with a stream, as it stands in a view's model.
  func follow(_ client: GraphQLClient) throws {
    let stream = try client.subscribe(subscription: Hero.Changed())
    following = Task {
      do {
        for try await result in stream {
          names.append(result.data?.heroChanged?.name ?? "-")
          tell()
        }
      } catch {
        errors += 1
      }
    }
  }

  private func show(_ result: Result<GraphQLResponse<Hero.Changed.Data>, any Error>) {
    names.append((try? result.get().data?.heroChanged?.name) ?? "-")
    tell()
  }

  private func show(_ result: Result<GraphQLResponse<Hero.Query.Data>, any Error>) {
    names.append((try? result.get().data?.hero?.name) ?? "-")
    tell()
  }
}

/// Says when it is gone.
private final class Owned: Sendable {
  private let gone: @Sendable () -> Void
  init(gone: @escaping @Sendable () -> Void) { self.gone = gone }
  deinit { gone() }
}

/// Operations with closures.
@Suite(.timeLimit(.minutes(1))) struct CallbackTests {
  private func signal() -> (AsyncStream<Void>, @Sendable () -> Void) {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    return (stream, { continuation.yield() })
  }

  @MainActor @Test func `closures and streams in code of the main actor need no annotation`() async throws {
    let transport = GatedTransport(Hero.answer)
    let client = GraphQLClient(networkTransport: transport)
    let (told, tell) = signal()
    var iterator = told.makeAsyncIterator()
    let list = HeroList(tell: tell)
    list.begin(client)
    transport.feeds.first?.yield(OperationPayload(["data": ["heroChanged": Hero.hero("a")]]))
    await iterator.next()
    list.load(client)
    await iterator.next()
    list.rename(client, to: "b")
    await iterator.next()
    let watch = list.watch(client)
    await iterator.next()
    try list.follow(client)
    transport.feeds.last?.yield(OperationPayload(["data": ["heroChanged": Hero.hero("c")]]))
    await iterator.next()
    #expect(list.names == ["a", "R2-D2", "b", "b", "c"])
    #expect(list.errors == 0)
    watch.cancel()
  }

  @Test func `closures run on the main actor, or on the queue that is named`() async throws {
    let client = GraphQLClient(networkTransport: GatedTransport(Hero.answer))
    let queue = DispatchQueue(label: "callbacks")
    let key = DispatchSpecificKey<String>()
    queue.setSpecific(key: key, value: "mine")
    let places = Recorder<String>()
    let (told, tell) = signal()
    var iterator = told.makeAsyncIterator()
    let onMain = client.fetch(query: Hero.Query()) { _ in
      // Stops the process anywhere else.
      MainActor.preconditionIsolated()
      places.add("main")
      tell()
    }
    await iterator.next()
    let onQueue = client.fetch(query: Hero.Query(), callbackQueue: queue) { _ in
      places.add(DispatchQueue.getSpecific(key: key) ?? "elsewhere")
      tell()
    }
    await iterator.next()
    let mutation = client.perform(mutation: Hero.Rename(name: "x"), callbackQueue: queue) { _ in
      places.add(DispatchQueue.getSpecific(key: key) ?? "elsewhere")
      tell()
    }
    await iterator.next()
    let watch = client.watch(query: Hero.Query(), callbackQueue: queue) { _ in
      places.add(DispatchQueue.getSpecific(key: key) ?? "elsewhere")
      tell()
    }
    await iterator.next()
    #expect(places.all == ["main", "mine", "mine", "mine"])
    for handle in [onMain, onQueue, mutation, watch] { handle.cancel() }
  }

  @Test func `events on a queue keep their order`() async throws {
    let transport = GatedTransport(Hero.answer)
    let client = GraphQLClient(networkTransport: transport)
    let names = Recorder<String>()
    let (told, tell) = signal()
    let handle = client.subscribe(
      subscription: Hero.Changed(), callbackQueue: DispatchQueue(label: "many", attributes: .concurrent)
    ) { result in
      names.add((try? result.get().data?.heroChanged?.name) ?? "-")
      if names.all.count == 200 { tell() }
    }
    let feed = try #require(transport.feeds.first)
    for number in 0..<200 { feed.yield(OperationPayload(["data": ["heroChanged": Hero.hero("\(number)")]])) }
    for await _ in told { break }
    #expect(names.all == (0..<200).map { "\($0)" })
    handle.cancel()
  }

  @Test func `a query and a mutation continue when their handle is released`() async throws {
    let transport = GatedTransport(isOpen: false, Hero.answer)
    let client = GraphQLClient(networkTransport: transport)
    let names = Recorder<String>()
    let (told, tell) = signal()
    var iterator = told.makeAsyncIterator()
    var arrivals = transport.arrivals.makeAsyncIterator()
    client.perform(mutation: Hero.Rename(name: "kept")) { result in
      names.add((try? result.get().data?.rename?.name) ?? "cancelled")
      tell()
    }
    await arrivals.next()
    client.fetch(query: Hero.Query(), cachePolicy: .networkOnly) { result in
      names.add((try? result.get().data?.hero?.name) ?? "cancelled")
      tell()
    }
    await arrivals.next()
    transport.open()
    await iterator.next()
    await iterator.next()
    #expect(names.all.sorted() == ["R2-D2", "kept"])
  }

  @Test func `nothing is delivered after an explicit cancel`() async throws {
    let transport = GatedTransport(isOpen: false, Hero.answer)
    let client = GraphQLClient(networkTransport: transport)
    let (gone, tellGone) = signal()
    let calls = Recorder<Bool>()
    var arrivals = transport.arrivals.makeAsyncIterator()
    do {
      let owned = Owned(gone: tellGone)
      let handle = client.perform(mutation: Hero.Rename(name: "x")) { _ in
        withExtendedLifetime(owned) { calls.add(true) }
      }
      await arrivals.next()
      handle.cancel()
    }
    // The closure is let go at once, although the transport still holds the request.
    for await _ in gone { break }
    transport.open()
    #expect(calls.all.isEmpty)
  }

  @Test func `dropping the handle of a subscription cancels it`() async throws {
    let transport = GatedTransport(Hero.answer)
    let client = GraphQLClient(networkTransport: transport)
    var handle: OperationHandle? = client.subscribe(subscription: Hero.Changed()) { _ in }
    #expect(handle != nil)
    let feed = try #require(transport.feeds.first)
    #expect(!feed.isFinished)
    handle = nil
    #expect(feed.isFinished)
    #expect(transport.cancelled == 1)
  }

  enum Ending: CaseIterable {
    case completed, failed, cancelled, dropped
  }

  @Test(arguments: Ending.allCases)
  func `a handler is let go when its subscription ends`(ending: Ending) async throws {
    let transport = GatedTransport(Hero.answer)
    let client = GraphQLClient(networkTransport: transport)
    let (gone, tellGone) = signal()
    weak var seen: Owned?
    var handle: OperationHandle?
    do {
      let owned = Owned(gone: tellGone)
      seen = owned
      handle = client.subscribe(subscription: Hero.Changed()) { _ in withExtendedLifetime(owned) {} }
    }
    #expect(seen != nil)
    let feed = try #require(transport.feeds.first)
    switch ending {
    case .completed: feed.finish()
    case .failed: feed.finish(throwing: GraphQLClientError(.operationFailed, "no"))
    case .cancelled: handle?.cancel()
    case .dropped: handle = nil
    }
    for await _ in gone { break }
    #expect(seen == nil)
    withExtendedLifetime(handle) {}
  }
}
