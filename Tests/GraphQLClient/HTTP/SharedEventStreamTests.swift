import Martlet
import MartletRuntime
import MartletSimulation
import MartletVocabulary
import Testing

/// Subscriptions that share one event stream, against scripted responses.
@Suite struct SharedEventStreamTests {
  private static let token = "X-GraphQL-Event-Stream-Token"

  /// A server that reserves, opens and accepts; what comes on the stream is the test's.
  ///
  /// `@unchecked Sendable` because it is touched only inside the executor's pump, or between its runs.
  final class Stage: @unchecked Sendable {
    let server: ScriptedExchanges
    var stream: ScriptedExchanges.Exchange?
    var streams = 0
    var posted: (Stage, ScriptedExchanges.Exchange) -> Void
    var reserved: ((Int, ScriptedExchanges.Exchange) -> Bool)?

    init(_ posted: @escaping (Stage, ScriptedExchanges.Exchange) -> Void) {
      self.posted = posted
      server = ScriptedExchanges { _, _ in }
      server.script = { [unowned self] _, exchange in
        switch exchange.request.method {
        case "PUT":
          streams += 1
          if reserved?(streams, exchange) == true { return }
          exchange.answer(201, "text/plain", "token-\(streams)")
        case "GET":
          exchange.head(200, "text/event-stream")
          exchange.send(":\n\n")
          stream = exchange
        case "POST": self.posted(self, exchange)
        default: exchange.answer(200)
        }
      }
    }

    func tell(_ id: String, _ payload: String) {
      stream?.send("event: next\ndata: {\"id\":\"\(id)\",\"payload\":\(payload)}\n\n")
    }
    func complete(_ id: String) { stream?.send("event: complete\ndata: {\"id\":\"\(id)\"}\n\n") }
    func methods() -> [String] { server.exchanges.map(\.request.method) }

    func client(_ configure: (inout ConnectionConfiguration) -> Void = { _ in }) throws -> GraphQLClient {
      try server.client {
        $0.subscriptionMediaType = .eventStream(.singleConnection)
        configure(&$0)
      }
    }
  }

  private static func id(_ exchange: ScriptedExchanges.Exchange) -> String {
    exchange.body["extensions"]?["operationId"]?.string ?? ""
  }

  private func ticks(_ stream: SubscriptionStream<GraphQLResponse<JSONValue>>) async -> ([Int64], GraphQLClientError?) {
    var seen: [Int64] = []
    do {
      for try await result in stream { seen.append(result.gap == nil ? result.data?["tick"]?.int ?? -1 : -2) }
      return (seen, nil)
    } catch {
      return (seen, error as? GraphQLClientError)
    }
  }

  @Test func `several subscriptions share one stream, which the last one closes`() throws {
    let stage = Stage { stage, exchange in
      let id = Self.id(exchange)
      // An event may overtake the answer to the request.
      stage.tell(id, HTTPSubscriptionTests.tick(id == "1" ? 10 : 20))
      exchange.answer(202)
      guard id == "2" else { return }
      stage.tell("1", HTTPSubscriptionTests.tick(11))
      stage.tell("99", HTTPSubscriptionTests.tick(99))
      stage.complete("1")
      stage.complete("2")
    }
    let client = try stage.client()
    let (first, second) = try stage.server.executor.run {
      let one = client.subscribe("subscription { tick }")
      try await one.ready()
      let two = client.subscribe("subscription { tick }")
      return (await ticks(one), await ticks(two))
    }
    #expect(first.0 == [10, 11] && first.1 == nil)
    #expect(second.0 == [20] && second.1 == nil)
    #expect(stage.methods() == ["PUT", "GET", "POST", "POST"])
    #expect(stage.server.exchanges.dropFirst().allSatisfy { $0.header(Self.token) == "token-1" })
    #expect(stage.stream?.isCancelled == true)
  }

  @Test func `what the server has confirmed stays confirmed when the answer to the request comes late`() throws {
    let stage = Stage { stage, exchange in
      stage.tell(Self.id(exchange), HTTPSubscriptionTests.ready("a-1"))
      exchange.answer(202)
      stage.tell(Self.id(exchange), HTTPSubscriptionTests.tick(1, "a-2"))
    }
    let client = try stage.client()
    let isConfirmed = try stage.server.executor.run {
      let stream = client.subscribe("subscription { tick }")
      for try await _ in stream { break }
      return stream.isConfirmed
    }
    #expect(isConfirmed)
  }

  @Test func `an operation that is cancelled is deleted at the server, and the others continue`() throws {
    let stage = Stage { stage, exchange in
      exchange.answer(202)
      stage.tell(Self.id(exchange), HTTPSubscriptionTests.tick(1))
    }
    let client = try stage.client()
    try stage.server.executor.run {
      let one = client.subscribe("subscription { tick }")
      let two = client.subscribe("subscription { tick }")
      try await one.ready()
      try await two.ready()
      one.cancel()
      stage.server.later { stage.tell("2", HTTPSubscriptionTests.tick(2)) }
      var seen: [Int64?] = []
      for try await result in two {
        seen.append(result.data?["tick"]?.int)
        if seen.count == 2 { break }
      }
      #expect(seen == [1, 2])
      two.cancel()
    }
    stage.server.executor.run(for: .seconds(1))
    let deletions = stage.server.exchanges.filter { $0.request.method == "DELETE" }
    #expect(deletions.map(\.request.url) == ["http://server.test:80/graphql/stream?operationId=1"])
    #expect(stage.stream?.isCancelled == true)
  }

  @Test func `one that is refused fails alone`() throws {
    let stage = Stage { stage, exchange in
      if Self.id(exchange) == "1" { return exchange.answer(400, "application/json", #"{"errors":[{"message":"no"}]}"#) }
      exchange.answer(202)
      stage.complete("2")
    }
    let client = try stage.client()
    let (first, second) = try stage.server.executor.run {
      let one = client.subscribe("subscription { nothing }")
      let two = client.subscribe("subscription { tick }")
      return (await ticks(one), await ticks(two))
    }
    #expect(first.1?.code == .operationFailed && first.1?.message == "no" && first.1?.status == 400)
    #expect(second.1 == nil)
  }

  @Test func `a lost stream ends all of its subscriptions, each with its cursor`() throws {
    let stage = Stage { stage, exchange in
      exchange.answer(202)
      let id = Self.id(exchange)
      stage.tell(id, HTTPSubscriptionTests.tick(1, "a-\(id)"))
      if id == "2" { stage.stream?.cut() }
    }
    let client = try stage.client()
    let (first, second) = try stage.server.executor.run {
      let one = client.subscribe("subscription { tick }")
      try await one.ready()
      let two = client.subscribe("subscription { tick }")
      return (await ticks(one), await ticks(two))
    }
    #expect(first.1?.code == .connectionLost && first.1?.cursor == Cursor("a-1"))
    #expect(second.1?.code == .connectionLost && second.1?.cursor == Cursor("a-2"))
  }

  @Test func `with resuming on, another stream is reserved and each operation resumes`() throws {
    let stage = Stage { stage, exchange in
      exchange.answer(202)
      let id = Self.id(exchange)
      guard stage.streams == 3 else {
        stage.tell(id, HTTPSubscriptionTests.tick(1, "a-1"))
        if id == "2" { stage.stream?.cut() }
        return
      }
      stage.tell(id, HTTPSubscriptionTests.tick(1, "a-1"))
      stage.tell(id, HTTPSubscriptionTests.tick(2, "a-2"))
      stage.complete(id)
    }
    stage.reserved = { number, exchange in
      if number == 2 { exchange.answer(503) }
      return number == 2
    }
    let client = try stage.client { $0.resumesHTTPSubscriptions = true }
    let (first, second) = try stage.server.executor.run {
      let one = client.subscribe("subscription { tick }")
      try await one.ready()
      let two = client.subscribe("subscription { tick }")
      return (await ticks(one), await ticks(two))
    }
    #expect(first.0 == [1, 2] && first.1 == nil)
    #expect(second.0 == [1, 2] && second.1 == nil)
    let posts = stage.server.exchanges.filter { $0.request.method == "POST" }
    #expect(posts.map { $0.body["extensions"]?["martlet"]?["resume"]?.string } == [nil, nil, "a-1", "a-1"])
    #expect(posts.map { $0.header(Self.token) } == ["token-1", "token-1", "token-3", "token-3"])
  }

  @Test func `a server without such streams is a typed error`() throws {
    let stage = Stage { _, _ in }
    stage.reserved = { _, exchange in
      exchange.answer(405, "application/json", #"{"errors":[{"message":"GET and POST"}]}"#)
      return true
    }
    let client = try stage.client { $0.resumesHTTPSubscriptions = true }
    let (_, error) = try stage.server.executor.run { await ticks(client.subscribe("subscription { tick }")) }
    #expect(error?.code == .httpStatus && error?.status == 405)
  }

  @Test func `credentials refused for one operation are asked for once more, and the stream stays`() throws {
    let stage = Stage { stage, exchange in
      guard exchange.header("Authorization") == "Bearer new" else {
        return exchange.answer(Self.id(exchange) == "1" ? 401 : 403)
      }
      exchange.answer(202)
      stage.tell(Self.id(exchange), HTTPSubscriptionTests.tick(1))
      stage.complete(Self.id(exchange))
    }
    let client = try stage.client { $0.credentials = { .bearer($0.isRefusal ? "new" : "old") } }
    let (first, second) = try stage.server.executor.run {
      let one = client.subscribe("subscription { tick }")
      let two = client.subscribe("subscription { tick }")
      return (await ticks(one), await ticks(two))
    }
    #expect(first.0 == [1] && first.1 == nil)
    #expect(second.0 == [1] && second.1 == nil)
    #expect(stage.streams == 1)
    let posts = stage.server.exchanges.filter { $0.request.method == "POST" }
    #expect(posts.map { $0.header("Authorization") } == ["Bearer old", "Bearer old", "Bearer new", "Bearer new"])
  }

  @Test func `an operation refused twice fails alone, and so does one without a provider`() throws {
    for hasProvider in [true, false] {
      let stage = Stage { stage, exchange in
        if Self.id(exchange) == "1" {
          return exchange.answer(403, "application/json", #"{"errors":[{"message":"no"}]}"#)
        }
        exchange.answer(202)
        stage.complete("2")
      }
      let client = try stage.client { if hasProvider { $0.credentials = { _ in .bearer("t") } } }
      let (first, second) = try stage.server.executor.run {
        let one = client.subscribe("subscription { tick }")
        let two = client.subscribe("subscription { tick }")
        return (await ticks(one), await ticks(two))
      }
      #expect(first.1?.code == .unauthorized && first.1?.message == "no" && first.1?.status == 403)
      #expect(second.1 == nil)
      let posts = stage.server.exchanges.filter { $0.request.method == "POST" }.map(Self.id)
      #expect(posts == (hasProvider ? ["1", "2", "1"] : ["1", "2"]))
    }
  }

  @Test func `a provider that fails when asked again ends the operation that was refused`() throws {
    let stage = Stage { _, exchange in exchange.answer(401) }
    let client = try stage.client {
      $0.credentials = { reason in
        if reason.isRefusal { throw CancellationError() }
        return .bearer("old")
      }
    }
    let (_, error) = try stage.server.executor.run { await ticks(client.subscribe("subscription { tick }")) }
    #expect(error?.code == .connectFailed)
    #expect(stage.stream?.isCancelled == true)
  }

  @Test func `refused credentials are asked for once more, then the refusal is final`() throws {
    let stage = Stage { _, _ in }
    stage.reserved = { _, exchange in
      exchange.answer(401)
      return true
    }
    let client = try stage.client { $0.credentials = { .bearer($0.isRefusal ? "new" : "old") } }
    let (_, error) = try stage.server.executor.run { await ticks(client.subscribe("subscription { tick }")) }
    #expect(error?.code == .unauthorized)
    #expect(stage.server.exchanges.map { $0.header("Authorization") } == ["Bearer old", "Bearer new"])
  }
}
