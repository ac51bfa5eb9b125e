import MartletGraphQLClient
import MartletGraphQLWire
import MartletJSON
import MartletRuntime
import MartletSimulation
import MartletTesting
import MartletVocabulary
import MartletWire
import Testing

/// A connection and its scripted server in one simulation.
struct Stage: Sendable {
  let executor: SimulatedExecutor
  let loop: SimulatedLoop
  let server: ScriptedServer
  let connection: GraphQLConnection

  init(seed: UInt64 = 1, _ configure: (inout ConnectionConfiguration) -> Void = { _ in }) throws {
    executor = SimulatedExecutor(seed: seed)
    loop = executor.makeLoop("client")
    server = ScriptedServer(loop: loop, seed: seed)
    var configuration = ConnectionConfiguration()
    configure(&configuration)
    connection = GraphQLConnection(
      try GraphQLEndpoint("ws://example.test/graphql"), configuration,
      environment: server.environment)
  }

  func subscribe(_ buffer: BufferPolicy? = nil) -> SubscriptionStream<SubscriptionEvent> {
    let request = RequestPayload(query: "subscription { tick }")
    return SubscriptionStream(core: connection.subscribe(request, buffer: buffer)) { $0 }
  }

  func run(_ duration: Duration = .milliseconds(1)) { executor.run(for: duration) }

  func onLoop(_ body: @escaping @Sendable (ScriptedServer) -> Void) {
    let server = self.server
    loop.execute { body(server) }
    run()
  }

  func types(_ socket: Int) -> [String] {
    server.sockets[socket].received.compactMap { (try? JSONValue(parsing: $0))?["type"]?.string }
  }
}

@Suite struct ConnectionTests {
  @Test func `a subscription is pending, active, and completed only by the server's word`() throws {
    let stage = try Stage()
    let stream = stage.subscribe()
    #expect(stream.state.description == "pending")
    stage.run()
    #expect(stream.state.description == "active")
    #expect(!stream.isConfirmed)
    #expect(stage.types(0) == ["connection_init", "subscribe"])
    stage.onLoop { $0.socket?.say(#"{"id":"1","type":"next","payload":{"data":{"tick":1}}}"#) }
    stage.onLoop { $0.socket?.say(#"{"id":"1","type":"complete"}"#) }
    let seen = try stage.executor.run {
      var texts: [String] = []
      for try await event in stream { texts.append(String(decoding: event.payload, as: UTF8.self)) }
      return texts
    }
    #expect(seen == [#"{"data":{"tick":1}}"#])
    #expect(stream.state.description == "finished(completed)")
    #expect(stage.executor.foreignEnqueues == 0)
  }

  @Test func `a server that never acknowledges is given up at the deadline and dialled again`() throws {
    let stage = try Stage()
    stage.server.acknowledgement = nil
    let stream = stage.subscribe()
    stage.run(.seconds(9))
    #expect(stage.server.sockets.count == 1)
    stage.run(.seconds(2))
    #expect(stage.server.sockets.count == 2)
    #expect(stage.server.sockets[0].clientClose?.code == 4504)
    #expect(stream.state.description == "pending")
  }

  @Test func `a server that never answers a ping is dropped and its subscriptions reconnect`() throws {
    let stage = try Stage()
    stage.server.answersPings = false
    let stream = stage.subscribe()
    stage.run(.seconds(24))
    #expect(stage.server.sockets.count == 1)
    stage.run(.seconds(2))
    #expect(stage.server.sockets[0].clientClose?.code == 4499)
    #expect(stage.server.sockets.count == 2)
    #expect(stream.state.description == "active")
  }

  @Test func `a second acknowledgement is a protocol error`() throws {
    let stage = try Stage()
    let stream = stage.subscribe()
    stage.run()
    stage.onLoop { $0.socket?.say(#"{"type":"connection_ack"}"#) }
    #expect(stage.server.sockets[0].clientClose?.code == 4004)
    #expect(stream.state.description.contains("protocolViolation"))
  }

  @Test func `cancelling before the acknowledgement sends nothing`() throws {
    let stage = try Stage()
    stage.server.acknowledgement = nil
    let stream = stage.subscribe()
    stage.run()
    stream.cancel()
    stage.run()
    #expect(stage.types(0) == ["connection_init"])
    #expect(stream.state.description == "finished(cancelled)")
  }

  @Test func `dropping the last reference completes on the server`() throws {
    let stage = try Stage()
    var stream: SubscriptionStream<SubscriptionEvent>? = stage.subscribe()
    stage.run()
    #expect(stream?.state.description == "active")
    stream = nil
    stage.run()
    #expect(stage.types(0) == ["connection_init", "subscribe", "complete"])
  }

  @Test func `a server that cannot resume gives one gap after a reconnect`() throws {
    let stage = try Stage()
    let stream = stage.subscribe()
    stage.run()
    stage.onLoop { $0.socket?.end(1006) }
    #expect(stream.state.description == "reconnecting")
    stage.run(.seconds(1))
    #expect(stream.state.description == "active")
    stage.onLoop { $0.socket?.say(#"{"id":"1","type":"complete"}"#) }
    let gaps = try stage.executor.run {
      var gaps: [EventGap?] = []
      for try await event in stream { gaps.append(event.gap) }
      return gaps
    }
    #expect(gaps == [EventGap(.serverCannotResume)])
  }

  @Test func `a resuming server gets the cursor, repeats are dropped and there is no gap`() throws {
    let stage = try Stage()
    stage.server.acknowledgement = ["martlet": ["cursors": true, "writes": true]]
    let stream = stage.subscribe()
    stage.run()
    #expect(stream.state.description == "pending")
    stage.onLoop { $0.socket?.say(#"{"id":"1","type":"ready","cursor":"a-4"}"#) }
    #expect(stream.isConfirmed)
    stage.onLoop { $0.socket?.say(#"{"id":"1","type":"next","payload":{"n":5},"cursor":"a-5"}"#) }
    stage.onLoop { $0.socket?.say(#"{"id":"1","type":"next","payload":{"n":6},"cursor":"a-6","partial":true}"#) }
    stage.onLoop { $0.socket?.end(1001) }
    stage.run(.seconds(1))
    #expect(stage.server.sockets[1].received[1].contains(#""resume":"a-5""#))
    for offset in [6, 7] {
      stage.onLoop {
        $0.socket?.say(#"{"id":"1","type":"next","payload":{"n":\#(offset)},"cursor":"a-\#(offset)"}"#)
      }
    }
    stage.onLoop { $0.socket?.say(#"{"id":"1","type":"complete"}"#) }
    let offsets = try stage.executor.run {
      var offsets: [Int64?] = []
      for try await event in stream { offsets.append(event.gap == nil ? event.cursor?.offset : -1) }
      return offsets
    }
    #expect(offsets == [5, 6, 7])
  }

  @Test func `a server that is down for longer than the whole backoff ends in the last cause`() throws {
    let stage = try Stage { $0.reconnect.attempts = 3 }
    stage.server.door = .refuses(status: nil)
    let stream = stage.subscribe()
    stage.run(.seconds(60))
    #expect(stage.server.attempts.count == 4)
    #expect(stream.state.description.contains("connectFailed: refused"))
  }

  @Test func `repeated failed attempts then success bring the subscription back`() throws {
    let stage = try Stage()
    let stream = stage.subscribe()
    stage.run()
    stage.server.door = .refuses(status: nil)
    stage.onLoop { $0.socket?.end(1006) }
    stage.run(.seconds(60))
    #expect(stream.state.description == "reconnecting")
    stage.server.door = .open
    stage.run(.seconds(60))
    #expect(stream.state.description == "active")
  }

  @Test(arguments: [
    (1000, true), (1001, true), (1002, false), (1005, true), (1006, true), (1008, false), (1011, false), (1012, true),
    (1013, true), (1014, true), (4004, false), (4005, false), (4400, false), (4406, false), (4408, true),
    (4409, false), (4429, false), (4499, true), (4500, false), (4504, true),
  ]) func `each close code with three live subscriptions`(code: UInt16, retries: Bool) throws {
    let stage = try Stage()
    let streams = (1...3).map { _ in stage.subscribe() }
    stage.run()
    stage.onLoop { $0.socket?.end(WebSocketCloseCode(rawValue: code), "bye") }
    stage.run(.seconds(2))
    #expect(stage.server.sockets.count == (retries ? 2 : 1))
    for stream in streams {
      if retries {
        #expect(stream.state.description == "active")
      } else {
        #expect(stream.state.description.contains("(close code \(code))"))
      }
    }
  }

  @Test(arguments: [4401, 4403] as [UInt16]) func `a refusal asks for credentials once more, then is final`(
    code: UInt16
  ) throws {
    let log = SimulatedHistory()
    let stage = try Stage {
      $0.credentials = { reason in
        log.record("\(reason)", at: .zero)
        return .bearer("t")
      }
    }
    stage.server.acknowledgement = nil
    let stream = stage.subscribe()
    stage.run()
    stage.onLoop { $0.socket?.end(WebSocketCloseCode(rawValue: code), "no") }
    stage.run()
    #expect(stage.server.sockets.count == 2)
    stage.onLoop { $0.socket?.end(WebSocketCloseCode(rawValue: code), "no") }
    #expect(log.entries.map(\.text) == ["connecting(attempt: 1)", "refused(code: \(code))"])
    #expect(stream.state.description.contains("unauthorized: no"))
  }

  @Test func `a mutation in flight is never sent again and its outcome is unknown`() throws {
    let stage = try Stage()
    let loop = stage.loop
    let server = stage.server
    let connection = stage.connection
    let code = try stage.executor.run {
      loop.schedule(later: .milliseconds(5)) { server.socket?.end(1006) }
      do {
        _ = try await connection.perform(RequestPayload(query: "mutation { pay }"), .mutation)
        return "done"
      } catch let error as GraphQLClientError { return error.code.description }
    }
    #expect(code == "outcomeUnknown")
    stage.run(.seconds(60))
    #expect(stage.types(0) == ["connection_init", "subscribe"])
    #expect(stage.server.sockets.count == 1)
  }

  @Test func `a hundred thousand events to a slow consumer stay bounded and all arrive`() throws {
    let stage = try Stage { $0.pingInterval = nil }
    let stream = stage.subscribe(BufferPolicy(.wait, events: 100))
    stage.run()
    stage.onLoop { server in
      for number in 1...100_000 { server.socket?.say("{\"id\":\"1\",\"type\":\"next\",\"payload\":{\"n\":\(number)}}") }
      server.socket?.say(#"{"id":"1","type":"complete"}"#)
    }
    let count = try stage.executor.run {
      var count = 0
      for try await _ in stream { count += 1 }
      return count
    }
    #expect(count == 100_000)
    #expect(stream.core.highWater == 100)
  }

  @Test func `an unknown message leaves every subscription alone`() throws {
    let stage = try Stage()
    let streams = (1...3).map { _ in stage.subscribe() }
    stage.run()
    stage.onLoop { $0.socket?.say(#"{"type":"novel"}"#) }
    stage.onLoop { $0.socket?.say(#"{"id":"2","type":"next","payload":7}"#) }
    #expect(streams[0].state.description == "active")
    #expect(streams[1].state.description.contains("protocolViolation"))
    #expect(streams[2].state.description == "active")
    #expect(stage.server.socket?.received.last == #"{"id":"2","type":"complete"}"#)
  }

  @Test func `pause closes and keeps subscriptions, resume brings them back with a gap`() throws {
    let stage = try Stage()
    let stream = stage.subscribe()
    stage.run()
    stage.connection.pause()
    stage.run()
    #expect(stream.state.description == "paused")
    #expect(stage.server.sockets[0].clientClose?.code == 1001)
    stage.connection.resume()
    stage.run()
    #expect(stream.state.description == "active")
    #expect(stream.core.waiting == 1)
  }
}

extension SimulatedLoop {
  func schedule(later: Duration, _ work: @escaping @Sendable () -> Void) {
    execute { self.schedule(at: self.now + later, work) }
  }
}
