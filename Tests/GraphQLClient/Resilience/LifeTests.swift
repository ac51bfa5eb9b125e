import MartletGraphQLClient
import MartletGraphQLWire
import MartletRuntime
import MartletSimulation
import MartletTesting
import MartletVocabulary
import Testing

/// Deadlines, silence, stale sockets, slow consumers, and that everything ends.
@Suite struct LifeTests {
  @Test func `an idle connection is closed at its deadline, and the next operation opens another`() throws {
    let stage = try Stage { $0.idleTimeout = .seconds(5) }
    let stream = stage.subscribe()
    stage.run(.seconds(20))
    #expect(stage.server.sockets[0].isOpen)
    stream.cancel()
    stage.run(.seconds(4))
    #expect(stage.server.sockets[0].isOpen)
    let second = stage.subscribe()
    stage.run(.seconds(4))
    #expect(second.state.short == "active" && stage.server.sockets[0].isOpen)
    second.cancel()
    stage.run(.seconds(6))
    #expect(stage.server.sockets[0].clientClose?.code == 1000)
    let third = stage.subscribe()
    stage.run()
    #expect(third.state.short == "active" && stage.server.sockets.count == 2)
  }

  @Test func `a peer that lost power is noticed by its missing pong, and the subscription comes back`() throws {
    let stage = try Stage()
    let stream = stage.subscribe()
    stage.run()
    stage.server.socket?.goSilent()
    stage.run(.seconds(24))
    #expect(stage.server.sockets.count == 1 && stream.state.short == "active")
    stage.run(.seconds(2))
    #expect(stage.server.sockets.count == 2 && stream.state.short == "active")
    #expect(stream.core.waiting == 1)
  }

  @Test func `a peer that stays silent is dialled with growing pauses and given up with the last cause`() throws {
    let stage = try Stage {
      $0.reconnect.attempts = 4; $0.reconnect.jitter = 0
    }
    stage.server.door = .silent
    let stream = stage.subscribe()
    stage.run(.seconds(300))
    let times = stage.server.attempts.map(\.at)
    let milliseconds: [Int] = [0, 15_500, 31_500, 48_500, 67_500]
    #expect(times == milliseconds.map { .milliseconds($0) })
    #expect(stream.state.short == "failed(connectFailed)")
    #expect(stream.state.error?.message == "no answer within 15.0 seconds")
  }

  @Test func `the error after the whole backoff names the last cause, not the first`() throws {
    let stage = try Stage { $0.reconnect.attempts = 2 }
    stage.server.door = .silent
    let stream = stage.subscribe()
    stage.run(.seconds(20))
    stage.server.acknowledgement = nil
    stage.server.door = .open
    stage.run(.seconds(120))
    #expect(stream.state.short == "failed(connectFailed)")
    #expect(stream.state.error?.closeCode == 4504)
    #expect(stage.server.attempts.count == 3)
  }

  @Test func `pings go out in silence only, and any message counts as life`() throws {
    let stage = try Stage {
      $0.pingInterval = .seconds(10); $0.pongTimeout = .seconds(5)
    }
    let stream = stage.subscribe()
    stage.server.answersPings = false
    for _ in 1...20 {
      stage.onLoop { $0.socket?.next("1", data: ["tick": 1]) }
      stage.run(.seconds(9))
    }
    #expect(stage.types(0) == ["connection_init", "subscribe"])
    stage.run(.seconds(2))
    #expect(stage.types(0).last == "ping")
    stage.onLoop { $0.socket?.next("1", data: ["tick": 1]) }
    stage.run(.seconds(8))
    #expect(stage.server.sockets[0].isOpen)
    stage.run(.seconds(20))
    #expect(stage.server.sockets[0].clientClose?.code == 4499)
    #expect(stream.state.short == "active")
  }

  @Test func `a server's ping is answered with its payload`() throws {
    let stage = try Stage()
    let keeper = stage.subscribe()
    stage.run()
    stage.onLoop { $0.socket?.say(#"{"type":"ping","payload":{"a":[1,2]}}"#) }
    #expect(stage.server.socket?.received.last == #"{"type":"pong","payload":{"a":[1,2]}}"#)
    #expect(keeper.state.short == "active")
  }

  @Test func `a second acknowledgement ends all and subscribes nothing twice`() throws {
    let stage = try Stage()
    let streams = (1...3).map { _ in stage.subscribe() }
    stage.run()
    stage.onLoop { $0.socket?.say(#"{"type":"connection_ack"}"#) }
    #expect(stage.types(0).filter { $0 == "subscribe" }.count == 3)
    for stream in streams { #expect(stream.state.short == "failed(protocolViolation)") }
    stage.run(.seconds(60))
    #expect(stage.server.attempts.count == 1)
  }

  @Test(arguments: [#"{"type":"novel"}"#, #"{"type":"novel","id":"1","payload":{}}"#, #"{"type":"next","id":"9"}"#])
  func `unknown messages leave several subscribers alone`(text: String) throws {
    let stage = try Stage()
    let streams = (1...5).map { _ in stage.subscribe() }
    stage.run()
    for _ in 1...10 { stage.onLoop { $0.socket?.say(text) } }
    stage.onLoop { server in for id in 1...5 { server.socket?.next("\(id)", data: ["tick": 1]) } }
    for stream in streams { #expect(stream.state.short == "active" && stream.core.waiting == 1) }
  }

  @Test(arguments: ["garbage", "[1]", #"{"id":"1"}"#, "{\"type\":7}", "\u{0}"])
  func `text that is not a message ends the socket and names the fault`(text: String) throws {
    let stage = try Stage()
    let streams = (1...3).map { _ in stage.subscribe() }
    stage.run()
    stage.onLoop { $0.socket?.say(text) }
    #expect(stage.server.sockets[0].clientClose?.code == 4004)
    for stream in streams { #expect(stream.state.short == "failed(protocolViolation)") }
  }

  @Test func `a stale socket delivers nothing`() throws {
    let stage = try Stage()
    let stream = stage.subscribe()
    stage.run()
    stage.server.delay = .seconds(1)
    let old = stage.server.socket
    // Under way when the client pauses and resumes: its answer belongs to a socket that is gone.
    old?.next("1", data: ["tick": "stale"])
    stage.connection.pause()
    stage.run()
    stage.server.delay = .zero
    stage.connection.resume()
    stage.run(.seconds(5))
    #expect(stage.server.sockets.count == 2)
    old?.close(4400)
    stage.run(.seconds(5))
    #expect(stream.state.short == "active")
    #expect(stream.core.waiting == 1)  // the gap of the pause
  }

  // MARK: Slow consumers

  private func slow(_ overflow: BufferPolicy.Overflow) throws -> (Stage, [String], String) {
    let stage = try Stage { $0.pingInterval = nil }
    let stream = stage.subscribe(BufferPolicy(overflow, events: 3))
    stage.run()
    stage.onLoop { server in for number in 1...8 { server.socket?.next("1", data: .int(Int64(number))) } }
    let watcher = try stage.executor.run {
      stage.loop.schedule(later: .seconds(1)) { stage.server.socket?.complete("1") }
      var seen: [String] = []
      do {
        for try await event in stream {
          if let gap = event.gap {
            seen.append("gap \(gap.dropped ?? -1)")
          } else {
            seen.append(String(decoding: event.payload.filter { (0x30...0x39).contains($0) }, as: UTF8.self))
          }
        }
      } catch let error as GraphQLClientError { seen.append("\(error.code)") }
      return seen
    }
    return (stage, watcher, stream.state.short)
  }

  @Test func `each policy for slow consumers keeps its word, with the gap in place`() throws {
    let all = ["1", "2", "3", "4", "5", "6", "7", "8"]
    let waits = try slow(.wait)
    #expect(waits.1 == all && waits.2 == "finished(completed)")
    let newest = try slow(.dropNewest)
    #expect(newest.1 == ["1", "2", "3", "gap 5"] && newest.2 == "finished(completed)")
    let oldest = try slow(.dropOldest)
    #expect(oldest.1.first?.hasPrefix("gap") == true && oldest.1.last == "8" && oldest.2 == "finished(completed)")
    let dropped = Int(oldest.1.first?.dropFirst(4) ?? "") ?? 0
    #expect(dropped + oldest.1.count - 1 == 8 && oldest.1.count <= 4)
    let fails = try slow(.fail)
    #expect(fails.1 == ["1", "2", "3", "slowConsumer"] && fails.2 == "failed(slowConsumer)")
    #expect(fails.0.types(0).last == "complete")
  }

  @Test func `a slow consumer pauses the socket and continues when another one leaves`() throws {
    let stage = try Stage { $0.pingInterval = nil }
    let slow = stage.subscribe(BufferPolicy(.wait, events: 2))
    let quick = stage.subscribe()
    let watcher = Watcher(quick, stage.executor)
    stage.run()
    stage.onLoop { server in
      for _ in 1...5 { for id in ["1", "2"] { server.socket?.next(id, data: ["tick": 1]) } }
    }
    #expect(slow.core.waiting == 2)
    #expect(watcher.seen.count < 5)
    slow.cancel()
    stage.run()
    #expect(watcher.seen.count == 5)
  }

  // MARK: Ends

  @Test func `nothing is left when all references are gone`() throws {
    weak var connection: GraphQLConnection?
    weak var core: SubscriptionCore?
    weak var server: ScriptedServer?
    weak var socket: ScriptedSocket?
    do {
      var stage: Stage? = try Stage { $0.idleTimeout = .seconds(5) }
      let home = try #require(stage?.executor)
      var stream: SubscriptionStream<SubscriptionEvent>? = stage?.subscribe()
      var watcher: Watcher? = stage.map { Watcher($0.subscribe(), home) }
      stage?.run()
      stage?.onLoop { $0.socket?.next("1", data: 1) }
      stage?.onLoop { $0.socket?.cut() }
      stage?.run(.seconds(2))
      (connection, core, server) = (stage?.connection, stream?.core, stage?.server)
      socket = stage?.server.socket
      #expect(core?.state.short == "active")
      watcher?.cancelTask()
      (watcher, stream) = (nil, nil)
      home.run(for: .seconds(1))
      #expect(core == nil)
      stage = nil
      // The connection says good-bye on its loop.
      home.run(for: .seconds(1))
      #expect(connection == nil && server == nil && socket == nil)
    }
  }

  @Test func `dropping the client closes its socket and ends its subscriptions`() throws {
    let executor = SimulatedExecutor(seed: 1)
    let server = ScriptedServer(loop: executor.makeLoop())
    var connection: GraphQLConnection? = GraphQLConnection(
      try GraphQLEndpoint("ws://example.test"), ConnectionConfiguration(), environment: server.environment)
    let core = connection?.subscribe(RequestPayload(query: "subscription { tick }"))
    executor.run(for: .seconds(1))
    #expect(core?.state.short == "active")
    connection = nil
    executor.run(for: .seconds(1))
    #expect(core?.state.short == "finished(cancelled)")
    #expect(server.socket?.clientClose?.code == 1000)
  }
}
