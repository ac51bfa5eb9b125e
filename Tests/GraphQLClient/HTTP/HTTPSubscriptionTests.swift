import Martlet
import MartletRuntime
import MartletSimulation
import MartletVocabulary
import Testing

/// Subscriptions by HTTP against scripted responses, one for each subscription.
@Suite struct HTTPSubscriptionTests {
  private static let multipart = "multipart/mixed;boundary=graphql;subscriptionSpec=1.0"
  private static let events = "text/event-stream"

  /// Results as the body of a multipart subscription that has begun.
  static func parts(_ results: [String]) -> String {
    "--graphql" + results.map { "\r\nContent-Type: application/json\r\n\r\n\($0)\r\n--graphql" }.joined()
  }

  static func ready(_ cursor: String) -> String { #"{"extensions":{"martlet":{"ready":{"cursor":"\#(cursor)"}}}}"# }
  static func tick(_ n: Int, _ cursor: String? = nil) -> String {
    let place = cursor.map { #","extensions":{"martlet":{"cursor":"\#($0)"}}"# } ?? ""
    return #"{"data":{"tick":\#(n)}\#(place)}"#
  }

  static func payload(_ result: String) -> String { #"{"payload":\#(result)}"# }

  private func collect(_ stream: SubscriptionStream<GraphQLResponse<JSONValue>>) async -> ([String], (any Error)?) {
    var seen: [String] = []
    do {
      for try await result in stream {
        if let gap = result.gap {
          seen.append("gap \(gap.reason.rawValue)")
        } else {
          seen.append("\(result.data?["tick"]?.int ?? -1)\(result.cursor.map { " at \($0)" } ?? "")")
        }
      }
      return (seen, nil)
    } catch {
      return (seen, error)
    }
  }

  private func watch(_ stream: SubscriptionStream<GraphQLResponse<JSONValue>>) async -> [String] {
    var all: [String] = []
    for await state in stream.states { all.append(state.description.prefix { $0 != "(" }.description) }
    return all
  }

  @Test(arguments: [SubscriptionMediaType.eventStream, .sharedEventStream, .multipart])
  func `a server that ends after the first byte each time is asked with growing pauses, and attempts bound it`(
    type: SubscriptionMediaType
  ) throws {
    func exchanges(attempts: Int?) throws -> (count: Int, error: GraphQLClientError?) {
      let server = ScriptedExchanges { _, exchange in
        if exchange.request.method == "PUT" { return exchange.answer(201, "text/plain", "token") }
        exchange.head(200, type == .multipart ? Self.multipart : Self.events)
        exchange.send(type == .multipart ? "--graphql" : ":\n\n")
        if type == .multipart { exchange.send(Self.parts([Self.payload(Self.ready("a-1"))]).dropFirst(9).description) }
        exchange.end()
      }
      let client = try server.client {
        $0.resumesHTTPSubscriptions = true
        $0.subscriptionMediaType = type
        $0.reconnect.attempts = attempts
        $0.reconnect.jitter = 0
      }
      let stream = client.subscribe("subscription { tick }")
      server.executor.run(for: .seconds(30))
      guard case .finished(.error(let error)) = stream.state else { return (server.streams, nil) }
      return (server.streams, error as? GraphQLClientError)
    }
    // 0.5, 1, 2, 4, 8 and 16 seconds apart; it was 81 connections.
    let endless = try exchanges(attempts: nil)
    #expect(endless.count == 6 && endless.error == nil)
    let bounded = try exchanges(attempts: 3)
    #expect(bounded.count == 4 && bounded.error?.code == .connectFailed)
  }

  @Test(arguments: [SubscriptionMediaType.eventStream, .sharedEventStream])
  func `the pause that an event stream asks for by retry is kept, and that of Retry-After`(
    type: SubscriptionMediaType
  ) throws {
    let server = ScriptedExchanges { number, exchange in
      if exchange.request.method == "PUT" { return exchange.answer(201, "text/plain", "token") }
      if number > 4 { return exchange.answer(503, "text/plain", "later", retryAfter: "25") }
      exchange.head(200, Self.events)
      exchange.send("retry: 9000\n\n")
      exchange.end()
    }
    let client = try server.client {
      $0.resumesHTTPSubscriptions = true
      $0.subscriptionMediaType = type
    }
    let stream = client.subscribe("subscription { tick }")
    server.executor.run(for: .seconds(70))
    let times = server.times
    let pauses = zip(times, times.dropFirst()).map { $1 - $0 }
    #expect(pauses.first == .seconds(9))
    #expect(pauses.last == .seconds(25))
    stream.cancel()
  }

  @Test func `a lost connection ends the subscription with an error that carries its cursor`() throws {
    let server = ScriptedExchanges { _, exchange in
      exchange.head(200, Self.multipart)
      exchange.send(Self.parts([Self.ready("a-1"), Self.tick(1, "a-2")].map(Self.payload)))
      exchange.cut()
    }
    let client = try server.client()
    let (seen, states, error) = try server.executor.run {
      let stream = client.subscribe("subscription { tick }")
      async let states = watch(stream)
      let (seen, error) = await collect(stream)
      return (seen, await states, error as? GraphQLClientError)
    }
    #expect(seen == ["1 at a-2"])
    #expect(error?.code == .connectionLost && error?.cursor == Cursor("a-2"))
    #expect(!states.contains("reconnecting") && states.last == "finished")
    #expect(server.exchanges.count == 1)
    #expect(server.exchanges.first?.body["extensions"] == ["martlet": ["cursors": true]])
  }

  @Test(arguments: [false, true]) func `with resuming on, it resumes after its cursor and drops repeats`(
    isMultipart: Bool
  )
    throws
  {
    let server = ScriptedExchanges { number, exchange in
      func send(_ results: [String]) {
        exchange.head(200, isMultipart ? Self.multipart : Self.events)
        if isMultipart { return exchange.send(Self.parts(results.map(Self.payload))) }
        // Byte by byte.
        for byte in results.map({ "event: next\ndata: \($0)\n\n" }).joined().utf8 {
          exchange.send(String(decoding: [byte], as: UTF8.self))
        }
      }
      switch number {
      case 1:
        send([
          Self.ready("a-1"), Self.tick(1, "a-2"),
          #"{"data":{"tick":2},"extensions":{"martlet":{"cursor":"a-3","partial":true}}}"#,
        ])
        exchange.cut()
      case 2: exchange.answer(503)
      case 3: exchange.cut()
      default:
        send([Self.tick(2, "a-3"), Self.tick(3, "a-4"), Self.ready("a-4")])
        exchange.send(isMultipart ? "--\r\n" : "event: complete\ndata:\n\n")
        exchange.end()
      }
    }
    let client = try server.client {
      $0.resumesHTTPSubscriptions = true
      $0.subscriptionMediaType = isMultipart ? .multipart : .eventStream
    }
    let (seen, states, error) = try server.executor.run {
      let stream = client.subscribe("subscription { tick }")
      async let states = watch(stream)
      let (seen, error) = await collect(stream)
      return (seen, await states, error)
    }
    #expect(seen == ["1 at a-2", "2 at a-3", "3 at a-4"] && error == nil)
    #expect(states.contains("reconnecting") && states.last == "finished")
    #expect(
      server.exchanges.map { $0.body["extensions"]?["martlet"]?["resume"]?.string } == [nil, "a-2", "a-2", "a-2"])
  }

  @Test func `with a server that gives no cursors there is a gap between the connections`() throws {
    let server = ScriptedExchanges { number, exchange in
      exchange.head(200, Self.multipart)
      exchange.send(Self.parts([Self.payload(Self.tick(number))]))
      if number == 1 { return exchange.cut() }
      exchange.send("--\r\n")
      exchange.end()
    }
    let client = try server.client { $0.resumesHTTPSubscriptions = true }
    let (seen, error) = try server.executor.run { await collect(client.subscribe("subscription { tick }")) }
    #expect(seen == ["1", "gap serverCannotResume", "2"] && error == nil)
  }

  @Test func `a gap of the server is delivered in its place, and counting continues after it`() throws {
    let gap = #"{"extensions":{"martlet":{"gap":{"reason":"retention","from":"a-1","to":"b-9"}}}}"#
    let server = ScriptedExchanges { _, exchange in
      exchange.head(200, Self.events)
      for result in [gap, Self.ready("b-9"), Self.tick(1, "b-10")] { exchange.send("event: next\ndata: \(result)\n\n") }
      exchange.send("event: complete\ndata:\n\n")
      exchange.end()
    }
    let client = try server.client { $0.subscriptionMediaType = .eventStream(.distinctConnections) }
    let (seen, error) = try server.executor.run {
      await collect(client.subscribe("subscription { tick }", from: SubscriptionStart(after: Cursor("a-1"))))
    }
    #expect(seen == ["gap retention", "1 at b-10"] && error == nil)
    #expect(server.exchanges.first?.body["extensions"] == ["martlet": ["cursors": true, "resume": "a-1"]])
  }

  @Test func `a server that goes away says so by no result, and that is a lost connection`() throws {
    let ended = #"{"errors":[{"message":"away","extensions":{"code":"STREAM_ENDED"}}]}"#
    let server = ScriptedExchanges { _, exchange in
      exchange.head(200, Self.events)
      exchange.send("event: next\ndata: \(Self.tick(1, "a-1"))\n\nevent: next\ndata: \(ended)\n\n")
      exchange.end()
    }
    let client = try server.client { $0.subscriptionMediaType = .eventStream }
    let (seen, error) = try server.executor.run {
      let (seen, error) = await collect(client.subscribe("subscription { tick }"))
      return (seen, error as? GraphQLClientError)
    }
    #expect(seen == ["1 at a-1"])
    #expect(error?.code == .connectionLost && error?.message == "away" && error?.cursor == Cursor("a-1"))
  }

  @Test func `attempts end where the policy says, with the cursor`() throws {
    let server = ScriptedExchanges { number, exchange in
      guard number == 1 else { return exchange.cut() }
      exchange.head(200, Self.multipart)
      exchange.send(Self.parts([Self.payload(Self.ready("a-1"))]))
      exchange.cut()
    }
    let client = try server.client {
      $0.resumesHTTPSubscriptions = true
      $0.reconnect.attempts = 3
    }
    let error = try server.executor.run {
      let (_, error) = await collect(client.subscribe("subscription { tick }"))
      return error as? GraphQLClientError
    }
    #expect(error?.code == .connectFailed && error?.cursor == Cursor("a-1"))
    #expect(server.exchanges.count == 4)
  }

  @Test func `a client that is shut down ends its subscriptions`() throws {
    let server = ScriptedExchanges { _, exchange in
      exchange.head(200, Self.multipart)
      exchange.send(Self.parts([Self.payload(Self.tick(1))]))
    }
    let client = try server.client()
    let state = try server.executor.run {
      let stream = client.subscribe("subscription { tick }")
      try await stream.ready()
      client.networkTransport.shutDown()
      let (_, error) = await collect(stream)
      #expect(error == nil)
      return stream.state.description
    }
    #expect(state == "finished(cancelled)")
    #expect(server.exchanges.first?.isCancelled == true)
  }
}
