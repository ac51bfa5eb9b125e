import Martlet
import MartletPublishers
import MartletServer
import Testing

/// Who cancels, and that the server's source stops, with a thousand events on their way.
@Suite(.timeLimit(.minutes(1))) struct DisconnectionTests {
  /// A subscriber that cancels at its thousandth tick, from inside the call.
  private final class Cutter: Sendable {
    let watcher = Watcher<TickEvent>()
    let cut: @Sendable () -> Void
    init(_ cut: @escaping @Sendable () -> Void) { self.cut = cut }

    func take(_ event: TickEvent) {
      watcher.take(event)
      if event.tick == 999 { cut() }
    }
  }

  @Test(arguments: [true, false])
  func `cancelling with a thousand events on their way stops the source and the others`(bySequence: Bool) async throws {
    let ticks = try TickServer()
    let sequence = ticks.subscribe()
    let publisher = Martlet.Publisher.create(sequence)
    let held = Held()
    let first = Cutter { if bySequence { sequence.cancel() } else { held.cancel() } }
    held.hold(
      publisher.sink {
        first.watcher.take($0)
      } receiveValue: {
        first.take($0)
      })
    let second = Watcher<TickEvent>()
    let filtered = publisher.filter { $0.tick != nil }.watch(second)
    await first.watcher.wait { events, _ in events.contains(where: \.isConnected) }

    await ticks.tick(0..<2_000)
    await ticks.sourceStopped()
    await second.waitForEnd()
    // Everything before, in order, and nothing after: the second one's turn with the thousandth came after the cut.
    #expect(first.watcher.values.compactMap(\.tick) == Array(0..<1_000))
    #expect(second.values.compactMap(\.tick) == Array(0..<999))
    #expect(second.isFinished)
    if bySequence {
      await first.watcher.waitForEnd()
      #expect(first.watcher.isFinished)
    } else {
      #expect(first.watcher.end == nil)
    }
    #expect(ticks.stops.count == 1)
    #expect(sequence.state.description == "finished(cancelled)")
    // A round trip on the same socket: what was still on its way has arrived by now.
    _ = try await ticks.client.query("{ hello }")
    #expect(first.watcher.values.compactMap(\.tick).count == 1_000 && second.values.count == 999)
    filtered.cancel()
    await ticks.server.stop()
  }

  @Test func `dropping the last holder stops the source: of a sequence, of a publisher, of a sink`() async throws {
    for kind in ["sequence", "publisher", "sink"] {
      let ticks = try TickServer()
      var sequence: SubscriptionStream<TickEvent>? = ticks.subscribe()
      var publisher: AnyPublisher<TickEvent, any Error>?
      var sink: AnyCancellable?
      let watcher = Watcher<TickEvent>()
      try await sequence?.ready()
      if kind != "sequence" { publisher = sequence.map { Martlet.Publisher.create($0) } }
      if kind == "sink" {
        sink = publisher?.watch(watcher)
        await ticks.tick(0..<1)
        await watcher.wait { events, _ in events.contains { $0.tick == 0 } }
      }
      #expect(ticks.stops.count == 0)
      sequence = nil
      publisher = nil
      sink = nil
      #expect(sequence == nil && publisher == nil && sink == nil)
      await ticks.sourceStopped()
      await ticks.server.stop()
    }
  }

  @Test func `the server's end is finished, with disconnected before it`() async throws {
    let ticks = try TickServer()
    let watcher = Watcher<TickEvent>()
    let held = Martlet.Publisher.create(ticks.subscribe()).watch(watcher)
    await ticks.tick(0..<3)
    ticks.finish()
    await watcher.waitForEnd()
    #expect(watcher.values.compactMap(\.tick) == [0, 1, 2])
    #expect(watcher.isFinished)
    if case .connection(.disconnected)? = watcher.values.last {} else { Issue.record("\(watcher.values)") }
    held.cancel()
    await ticks.server.stop()
  }

  @Test func `a terminal error is the failure`() async throws {
    let ticks = try TickServer()
    let request = GraphQLRequest("subscription { nothing }", responseType: Int.self)
    let sequence = Martlet.withClient(ticks.client) { Martlet.API.subscribe(request: request) }
    let watcher = Watcher<GraphQLSubscriptionEvent<Int>>()
    let held = Martlet.Publisher.create(sequence).watch(watcher)
    await watcher.waitForEnd()
    #expect((watcher.failure as? GraphQLClientError)?.code == .operationFailed)
    held.cancel()
    await ticks.server.stop()
  }
}

/// Holds a cancellable that a subscriber inside it cancels.
final class Held: Sendable {
  private let guarded = Watched<AnyCancellable?>(nil)
  func hold(_ cancellable: AnyCancellable) { guarded.value = cancellable }
  func cancel() { guarded.value?.cancel() }
}
