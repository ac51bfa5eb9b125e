import Foundation
import Martlet
import MartletTesting
import Testing

/// Who keeps a subscription alive: a reference to it, or a loop that runs. Watched on the server.
@Suite struct LifetimeTests {
  private let time = VirtualTime()
  private let server: ScriptedServer
  private let client: GraphQLClient

  private struct Ticks: GraphQLSubscription {
    static let operationName = "Ticks"
    static let operationDocument = "subscription Ticks { tick }"
    struct Data: Codable, Hashable, Sendable { var tick: Int }
  }

  init() throws {
    server = ScriptedServer(time)
    let url = try #require(URL(string: "ws://example.test/graphql"))
    client = try GraphQLClient(url: url, environment: server.environment)
  }

  @Test func `dropping the last reference to a sequence completes it on the server`() throws {
    try time.run { [server, client] in
      var stream: SubscriptionStream<GraphQLResponse<Ticks.Data>>? = try client.subscribe(subscription: Ticks())
      let socket = try await server.accept()
      try await socket.expect("subscribe")
      try await stream?.ready()
      stream = nil
      try await socket.expect("complete")
    }
  }

  @Test func `a sequence dropped before it was sent is never sent`() throws {
    try time.run { [server, client, time] in
      for _ in 1...3 { _ = try client.subscribe(subscription: Ticks()) }
      let kept = try client.subscribe(subscription: Ticks())
      let socket = try await server.accept()
      try await socket.expect("subscribe")
      await time.sleep(for: .seconds(1))
      #expect(socket.received.count == 2)
      _ = kept.state
    }
  }

  @Test func `a running loop is a reference, and the end of its task the end of the subscription`() throws {
    try time.run { [server, client] in
      try await withThrowingTaskGroup(of: Int.self) { group in
        group.addTask {
          var count = 0
          // Nothing else refers to the sequence.
          for try await _ in try client.subscribe(subscription: Ticks()) { count += 1 }
          return count
        }
        let socket = try await server.accept()
        let id = try await socket.expect("subscribe")["id"]?.string ?? ""
        for number in 1...3 {
          await time.sleep(for: .seconds(60))
          socket.next(id, data: ["tick": .int(Int64(number))])
        }
        await time.sleep(for: .seconds(60))
        #expect(socket.received.filter { $0.contains("complete") }.isEmpty)
        group.cancelAll()
        try await socket.expect("complete")
        #expect(try await group.next() == 3)
      }
    }
  }

  @Test func `leaving a loop ends the subscription when nothing else refers to it`() throws {
    try time.run { [server, client] in
      async let first = {
        for try await result in try client.subscribe(subscription: Ticks()) { return result.data?.tick }
        return nil
      }()
      let socket = try await server.accept()
      let id = try await socket.expect("subscribe")["id"]?.string ?? ""
      socket.next(id, data: ["tick": 1])
      #expect(try await first == 1)
      try await socket.expect("complete")
    }
  }

  /// A screen that holds what it subscribed to, as an application's does.
  @MainActor private final class Screen {
    var shown: [Int?] = []
    var handle: OperationHandle?
    let onEnd: @Sendable () -> Void
    init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }
    deinit { onEnd() }

    func appear(_ client: GraphQLClient) {
      handle = client.subscribe(subscription: Ticks()) { [weak self] result in
        self?.shown.append((try? result.get())?.data?.tick)
      }
    }
  }

  @MainActor @Test func `a dropped owner ends its subscription: nothing in the library keeps it`() throws {
    let ended = Recorder<String>()
    var screen: Screen? = Screen { ended.add("screen") }
    screen?.appear(client)
    time.advance(by: .seconds(1))
    let socket = try #require(server.socket)
    #expect(socket.received.last?.contains("subscribe") == true)
    screen = nil
    #expect(ended.all == ["screen"])
    time.advance(by: .seconds(1))
    #expect(socket.received.last?.contains("complete") == true)
  }

  private final class Held: Sendable {}

  @MainActor @Test func `a handler is let go when its subscription ends, also while the handle is kept`() async throws {
    weak var held: Held?
    let (ends, end) = AsyncStream<Void>.makeStream()
    let handle: OperationHandle
    do {
      let object = Held()
      held = object
      handle = client.subscribe(subscription: Ticks()) { [object] result in
        _ = object
        if case .failure = result { end.finish() }
      }
    }
    time.advance(by: .seconds(1))
    #expect(held != nil)
    server.socket?.fail("1", message: "no")
    time.advance(by: .seconds(1))
    for await _ in ends {}
    // The task that called the handler returns right after the call; `yield` lets it.
    for _ in 0..<10_000 where held != nil { await Task.yield() }
    #expect(held == nil)
    handle.cancel()
  }
}
