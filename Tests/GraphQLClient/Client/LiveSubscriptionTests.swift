import Foundation
import Martlet
import Observation
import Testing

/// What a view shows of a subscription, without a view.
@Suite(.timeLimit(.minutes(1))) @MainActor struct LiveSubscriptionTests {
  private struct Tick: Decodable, Sendable {
    let tick: Int
  }

  /// Waits until a condition holds, as a view does: by observing what the condition reads.
  private func until(_ isTrue: @MainActor () -> Bool) async {
    while !isTrue() {
      await withCheckedContinuation { continuation in
        withObservationTracking {
          _ = isTrue()
        } onChange: {
          continuation.resume()
        }
      }
    }
  }

  /// A transport whose feed the test holds.
  private final class Feeding: NetworkTransport {
    let feeds = AsyncStream.makeStream(of: SubscriptionFeed.self)

    func send(_ request: OperationRequest) async throws -> OperationPayload { OperationPayload(["data": nil]) }
    func subscribe(_ request: OperationRequest, feeding feed: SubscriptionFeed) throws {
      feeds.continuation.yield(feed)
    }
  }

  @Test func `a view has the newest value, the state and the errors, and keeps the value at the end`() async throws {
    let transport = Feeding()
    let client = GraphQLClient(networkTransport: transport)
    let live = LiveSubscription<Tick>()
    let stream = client.subscribe("subscription { tick }", as: Tick.self)
    async let following: Void = live.follow(stream)
    var feeds = transport.feeds.stream.makeAsyncIterator()
    let feed = try #require(await feeds.next())
    feed.activate()
    feed.yield(OperationPayload(["data": ["tick": 1]]))
    await until { live.value?.tick == 1 && "\(live.state)" == "active" }
    feed.yield(OperationPayload(["data": ["tick": 2], "errors": [["message": "partly"]]]))
    await until { live.value?.tick == 2 }
    #expect(live.errors.map(\.message) == ["partly"])
    feed.yield(gap: EventGap(.retention))
    await until { live.gap?.reason == .retention }
    feed.finish()
    await following
    #expect(live.value?.tick == 2 && live.failure == nil)
    #expect("\(live.state)" == "finished(completed)")
  }

  @Test func `a view that disappears ends the subscription`() async throws {
    let transport = Feeding()
    let client = GraphQLClient(networkTransport: transport)
    let live = LiveSubscription<Tick>()
    let stream = client.subscribe("subscription { tick }", as: Tick.self)
    let task = Task { await live.follow(stream) }
    var feeds = transport.feeds.stream.makeAsyncIterator()
    let feed = try #require(await feeds.next())
    feed.activate()
    feed.yield(OperationPayload(["data": ["tick": 1]]))
    await until { live.value?.tick == 1 }
    task.cancel()
    await task.value
    #expect("\(stream.state)" == "finished(cancelled)")
    #expect(live.failure == nil)
  }
}
