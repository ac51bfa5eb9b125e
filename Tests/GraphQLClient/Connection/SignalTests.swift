import MartletGraphQLClient
import Testing

/// Streams whose consumer finds what it takes itself, as snapshots of a live query.
@Suite struct SignalTests {
  private func stream(_ core: SubscriptionCore) -> SubscriptionStream<Int> {
    SubscriptionStream(core: core) { $0.payload.count }
  }

  private static func first(of stream: SubscriptionStream<Int>) async throws -> Int? {
    var iterator = stream.makeAsyncIterator()
    return try await iterator.next()
  }

  @Test func `signals that the consumer has not taken are one event, which the buffer does not count`() async throws {
    let core = SubscriptionCore(BufferPolicy(.fail, events: 1))
    core.move(to: .active)
    var iterator = stream(core).makeAsyncIterator()
    for _ in 0..<3 { core.signal() }
    #expect(core.waiting == 0 && core.highWater == 0)
    #expect(try await iterator.next() == 0)
    core.signal()
    #expect(try await iterator.next() == 0)
    // What it stands for is gone with the subscription.
    core.signal()
    core.move(to: .finished(.completed))
    #expect(try await iterator.next() == nil)
  }

  @Test func `a consumer that waits is woken by a signal`() async throws {
    let core = SubscriptionCore(BufferPolicy())
    core.move(to: .active)
    let stream = stream(core)
    async let first = Self.first(of: stream)
    core.signal()
    #expect(try await first == 0)
  }

  @Test func `nothing is taken after a cancellation, a signal included`() async throws {
    let core = SubscriptionCore(BufferPolicy())
    core.move(to: .active)
    var iterator = stream(core).makeAsyncIterator()
    core.signal()
    core.leave()
    core.signal()
    #expect(try await iterator.next() == nil)
  }

  @Test func `the events are another iterator's once the first is gone, and not before`() async throws {
    let core = SubscriptionCore(BufferPolicy())
    core.move(to: .active)
    let stream = stream(core)
    do {
      var first = stream.makeAsyncIterator()
      core.signal()
      #expect(try await first.next() == 0)
      var second = stream.makeAsyncIterator()
      await #expect(throws: GraphQLClientError.self) { try await second.next() }
      core.signal()
      #expect(try await first.next() == 0)
    }
    var third = stream.makeAsyncIterator()
    core.signal()
    #expect(try await third.next() == 0)
  }
}
