import Martlet
import MartletRuntime
import MartletSimulation
import MartletVocabulary
import Testing

/// Subscriptions by HTTP whose consumer takes its time: nothing is read meanwhile, and nothing is lost.
@Suite struct SlowConsumerTests {
  private typealias Stream = SubscriptionStream<GraphQLResponse<JSONValue>>

  /// A server of one subscription by either kind of event stream.
  ///
  /// `@unchecked Sendable` because it is touched only inside the executor's pump, or between its runs.
  private final class Stage: @unchecked Sendable {
    let type: SubscriptionMediaType
    let server: ScriptedExchanges
    /// The streams, in their order, and where each was asked to resume.
    private(set) var streams: [ScriptedExchanges.Exchange] = []
    private(set) var resumed: [String?] = []
    private var id = ""

    init(_ type: SubscriptionMediaType) {
      self.type = type
      server = ScriptedExchanges { _, _ in }
      server.script = { [unowned self] _, exchange in
        switch exchange.request.method {
        case "PUT": return exchange.answer(201, "text/plain", "token")
        case "DELETE": return exchange.answer(200)
        case "GET": break
        default:
          id = exchange.body["extensions"]?["operationId"]?.string ?? ""
          resumed.append(exchange.body["extensions"]?["martlet"]?["resume"]?.string)
          if type == .sharedEventStream { return exchange.answer(202) }
        }
        streams.append(exchange)
        exchange.head(200, "text/event-stream")
        exchange.send(":\n\n")
      }
    }

    func client(_ configure: (inout ConnectionConfiguration) -> Void = { _ in }) throws -> GraphQLClient {
      try server.client {
        $0.subscriptionMediaType = type
        $0.buffer = BufferPolicy(events: 2)
        configure(&$0)
      }
    }

    /// Sends results on the newest stream.
    func send(_ results: [String]) {
      let shared = type == .sharedEventStream
      for result in results {
        streams.last?.send("event: next\ndata: \(shared ? #"{"id":"\#(id)","payload":\#(result)}"# : result)\n\n")
      }
    }

    func complete() {
      streams.last?.send("event: complete\ndata:\(type == .sharedEventStream ? #" {"id":"\#(id)"}"# : "")\n\n")
    }

    func step(_ body: @escaping @Sendable () -> Void) {
      server.later(body)
      server.executor.run(for: .zero)
    }

    /// Takes what waits, and no more.
    func take(_ count: Int, of stream: Stream) throws -> [String] {
      try server.executor.run {
        var seen: [String] = []
        guard count > 0 else { return seen }
        for try await result in stream {
          seen.append(result.gap.map { "gap \($0.reason.rawValue)" } ?? "\(result.data?["tick"] ?? .null)")
          if seen.count == count { break }
        }
        return seen
      }
    }
  }

  private static let types = [SubscriptionMediaType.eventStream, .sharedEventStream]
  private static let overflow = HTTPExchangeError(.overflow, "too much")

  @Test(arguments: types) func `a consumer that takes longer than a server may be silent keeps its stream`(
    type: SubscriptionMediaType
  ) throws {
    let stage = Stage(type)
    let client = try stage.client()
    let stream = client.subscribe("subscription { tick }")
    stage.server.executor.run(for: .seconds(1))
    stage.step {
      stage.send([HTTPSubscriptionTests.ready("a-0")] + (1...3).map { HTTPSubscriptionTests.tick($0, "a-\($0)") })
    }
    #expect(stage.streams.last?.isPaused == true)
    stage.server.executor.run(for: .seconds(300))
    #expect(stage.streams.count == 1 && stage.streams.last?.isCancelled == false, "\(stream.state)")
    #expect(try stage.take(3, of: stream) == ["1", "2", "3"])
    stage.server.executor.run(for: .zero)
    #expect(stage.streams.last?.isPaused == false)
    // Now silence counts again.
    stage.server.executor.run(for: .seconds(31))
    #expect(stage.streams.last?.isCancelled == true)
    client.shutDown()
  }

  @Test(arguments: types)
  func `more than the network holds while there is no room is asked for again from the cursor, once there is room`(
    type: SubscriptionMediaType
  ) throws {
    let stage = Stage(type)
    let client = try stage.client()
    let stream = client.subscribe("subscription { tick }")
    stage.server.executor.run(for: .seconds(1))
    stage.step {
      stage.send([HTTPSubscriptionTests.ready("a-0")] + (1...3).map { HTTPSubscriptionTests.tick($0, "a-\($0)") })
      stage.streams.last?.end(Self.overflow)
    }
    // Another stream would only add to what waits.
    stage.server.executor.run(for: .seconds(300))
    #expect(stage.streams.count == 1)
    #expect(try stage.take(3, of: stream) == ["1", "2", "3"])
    stage.server.executor.run(for: .zero)
    #expect(stage.streams.count == 2 && stage.resumed == [nil, "a-3"])
    stage.step {
      stage.send([
        HTTPSubscriptionTests.tick(3, "a-3"), HTTPSubscriptionTests.tick(4, "a-4"), HTTPSubscriptionTests.ready("a-4"),
      ])
      stage.complete()
    }
    #expect(try stage.take(2, of: stream) == ["4"])
    #expect(stream.state.description == "finished(completed)")
    client.shutDown()
  }

  @Test(arguments: types) func `without a cursor it ends as a lost connection, after what had come`(
    type: SubscriptionMediaType
  ) throws {
    let stage = Stage(type)
    let client = try stage.client()
    let stream = client.subscribe("subscription { tick }")
    stage.server.executor.run(for: .seconds(1))
    stage.step {
      stage.send((1...3).map { HTTPSubscriptionTests.tick($0) })
      stage.streams.last?.end(Self.overflow)
    }
    #expect(try stage.take(3, of: stream) == ["1", "2", "3"])
    let error = #expect(throws: GraphQLClientError.self) { try stage.take(1, of: stream) }
    #expect(error?.code == .connectionLost)
    client.shutDown()
  }

  @Test(arguments: types) func `a stream that is lost while there is no room is made again once there is room`(
    type: SubscriptionMediaType
  ) throws {
    let stage = Stage(type)
    let client = try stage.client { $0.resumesHTTPSubscriptions = true }
    let stream = client.subscribe("subscription { tick }")
    stage.server.executor.run(for: .seconds(1))
    stage.step {
      stage.send([HTTPSubscriptionTests.ready("a-0")] + (1...3).map { HTTPSubscriptionTests.tick($0, "a-\($0)") })
      stage.streams.last?.cut()
    }
    stage.server.executor.run(for: .seconds(300))
    #expect(stage.streams.count == 1)
    #expect(try stage.take(3, of: stream) == ["1", "2", "3"])
    stage.server.executor.run(for: .zero)
    #expect(stage.streams.count == 2 && stage.resumed == [nil, "a-3"])
    stream.cancel()
    client.shutDown()
  }

  @Test(arguments: types) func `a subscription that is cancelled while it waits for room asks for no stream`(
    type: SubscriptionMediaType
  ) throws {
    let stage = Stage(type)
    let client = try stage.client { $0.resumesHTTPSubscriptions = true }
    let stream = client.subscribe("subscription { tick }")
    stage.server.executor.run(for: .seconds(1))
    stage.step {
      stage.send([HTTPSubscriptionTests.ready("a-0")] + (1...3).map { HTTPSubscriptionTests.tick($0, "a-\($0)") })
      stage.streams.last?.cut()
    }
    stream.cancel()
    stage.server.executor.run(for: .seconds(300))
    #expect(stage.streams.count == 1 && stream.state.description == "finished(cancelled)")
    client.shutDown()
  }
}
