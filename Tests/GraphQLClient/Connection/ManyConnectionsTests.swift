import MartletGraphQLClient
import MartletGraphQLWire
import MartletJSON
import MartletSimulation
import MartletTesting
import Testing

/// More subscriptions than one WebSocket carries.
@Suite struct ManyConnectionsTests {
  private func starts(_ stage: Stage) -> [Int] {
    stage.server.sockets.indices.map { index in
      stage.types(index).filter { $0 == "subscribe" || $0 == "start" }.count
    }
  }

  private func stage(_ most: Int, _ configure: (inout ConnectionConfiguration) -> Void = { _ in }) throws -> Stage {
    try Stage {
      $0.subscriptionsPerConnection = most
      configure(&$0)
    }
  }

  /// The server's socket `index` refuses the operation `id` for want of room, as its dialect says it.
  private func refuse(_ id: Int, on index: Int, _ dialect: Dialect, _ stage: Stage) {
    let payload =
      switch dialect {
      case .graphqlTransportWS: #"[{"message":"full","extensions":{"code":"TOO_MANY_OPERATIONS"}}]"#
      case .graphqlWS: #"{"message":"full","extensions":{"code":"TOO_MANY_OPERATIONS"}}"#
      case .appSync: #"{"errors":[{"errorType":"MaxSubscriptionsReachedError","message":"full"}]}"#
      }
    stage.onLoop { $0.sockets[index].say(#"{"id":"\#(id)","type":"error","payload":\#(payload)}"#) }
  }

  private func stage(_ dialect: Dialect) throws -> Stage {
    switch dialect {
    case .graphqlTransportWS: try Stage()
    case .graphqlWS: try OlderDialect.graphqlWS.stage()
    case .appSync: try OlderDialect.appSync.stage()
    }
  }

  @Test func `beyond the limit another connection is opened, and each is filled before the next`() throws {
    let stage = try stage(3)
    let streams = (1...7).map { _ in stage.subscribe() }
    stage.run()
    #expect(starts(stage) == [3, 3, 1])
    #expect(streams.allSatisfy { $0.state.short == "active" })
    streams[1].cancel()
    stage.run()
    let next = stage.subscribe()
    stage.run()
    #expect(starts(stage) == [4, 3, 1] && next.state.short == "active")
    #expect(stage.server.sockets.allSatisfy { $0.isOpen })
  }

  @Test func `a hundred and twenty subscriptions take two connections by default`() throws {
    let stage = try Stage()
    let streams = (1...120).map { _ in stage.subscribe() }
    stage.run()
    #expect(starts(stage) == [100, 20])
    for stream in streams { #expect(stream.state.short == "active" && stream.core.waiting == 0) }
  }

  @Test(arguments: Dialect.allCases)
  func `a server that allows fewer is believed, and the refused subscription goes to another connection`(
    dialect: Dialect
  ) throws {
    let stage = try stage(dialect)
    var streams = (1...3).map { _ in stage.subscribe() }
    stage.run()
    if case .appSync = dialect { OlderDialect.appSync.confirm(1...2, stage) }
    refuse(3, on: 0, dialect, stage)
    stage.run()
    #expect(starts(stage) == [3, 1])
    if case .appSync = dialect { OlderDialect.appSync.confirm(1...1, stage) }
    // Two is what the server allows: the second connection takes one more, the third operation goes to a third.
    for _ in 1...2 { streams.append(stage.subscribe()) }
    stage.run()
    #expect(starts(stage) == [3, 2, 1])
    if case .appSync = dialect {
      stage.onLoop { $0.sockets[1].say(#"{"id":"2","type":"start_ack"}"#) }
      OlderDialect.appSync.confirm(1...1, stage)
    }
    for stream in streams { #expect(stream.state.short == "active" && stream.core.waiting == 0) }
    #expect(stage.server.sockets.allSatisfy { $0.isOpen })
    // Nothing is said about the refused id on the old connection.
    #expect(stage.types(0).suffix(1).allSatisfy { $0 == "subscribe" || $0 == "start" })
  }

  @Test(arguments: Dialect.allCases) func `a refusal of a connection's only operation is that operation's error`(
    dialect: Dialect
  ) throws {
    let stage = try stage(dialect)
    let stream = stage.subscribe()
    stage.run()
    refuse(1, on: 0, dialect, stage)
    #expect(stream.state.short == "failed(operationFailed)" && stream.state.error?.message == "full")
    stage.run(.seconds(60))
    #expect(stage.server.sockets.count == 1)
  }

  @Test func `what was live before takes its place along, and a server without places gives one more gap`() throws {
    for resumes in [true, false] {
      let stage = try Stage()
      stage.server.acknowledgement = resumes ? ["martlet": ["cursors": true]] : [:]
      let streams = (1...2).map { _ in stage.subscribe() }
      stage.run()
      if resumes {
        stage.onLoop { server in
          for id in 1...2 { server.socket?.say(#"{"id":"\#(id)","type":"ready","cursor":"a-4"}"#) }
        }
        stage.onLoop { $0.socket?.next("2", data: 5, cursor: "a-5") }
      }
      stage.onLoop { $0.socket?.cut() }
      stage.run(.seconds(1))
      #expect(stage.server.sockets.count == 2)
      if resumes { stage.onLoop { $0.socket?.say(#"{"id":"1","type":"ready","cursor":"a-5"}"#) } }
      refuse(2, on: 1, .graphqlTransportWS, stage)
      #expect(streams[1].state.short == (resumes ? "reconnecting" : "active"))
      stage.run()
      let sent = try #require(stage.server.sockets.last?.received.last)
      #expect(stage.server.sockets.count == 3 && sent.contains(#""resume":"a-5""#) == resumes)
      #expect(streams.map(\.core.waiting) == (resumes ? [0, 1] : [1, 2]))
    }
  }

  @Test func `a mutation refused for want of room is sent once more, elsewhere, and keeps its deadline`() throws {
    let stage = try Stage {
      $0.requestTransport = .socket
      $0.requestTimeout = .seconds(5)
    }
    let stream = stage.subscribe()
    let (loop, connection, server) = (stage.loop, stage.connection, stage.server)
    stage.run()
    let payload = try stage.executor.run {
      loop.schedule(later: .seconds(4)) {
        server.sockets[0].send([
          "id": "2", "type": "error",
          "payload": [["message": "full", "extensions": ["code": "TOO_MANY_OPERATIONS"]]],
        ])
      }
      loop.schedule(later: .milliseconds(4_500)) { server.sockets[1].next("1", data: ["pay": true]) }
      return try await connection.perform(RequestPayload(query: "mutation { pay }"), .mutation)
    }
    #expect(payload.description == #"{"data":{"pay":true}}"#)
    #expect(stream.state.short == "active")
  }

  @Test func `pause, resume, changes and the end cover all connections, and each reports its state`() throws {
    let stage = try stage(1)
    let events = stage.connection.connectionEvents
    let streams = (1...3).map { _ in stage.subscribe() }
    stage.run()
    stage.connection.pause()
    stage.run()
    #expect(stage.server.sockets.map { $0.clientClose?.code } == [1001, 1001, 1001])
    #expect(streams.allSatisfy { $0.state.short == "paused" })
    let late = stage.subscribe()
    stage.run()
    #expect(late.state.short == "paused" && stage.server.sockets.count == 3)
    stage.connection.resume()
    stage.run()
    #expect(stage.server.sockets.count == 7 && (streams + [late]).allSatisfy { $0.state.short == "active" })
    stage.connection.update(reconnecting: true) { $0.connectingPayload = ["authToken": "new"] }
    stage.run()
    #expect(stage.server.sockets.count == 11)
    #expect(stage.server.sockets.suffix(4).allSatisfy { $0.received.first?.contains("new") == true })
    let more = stage.subscribe()
    stage.run()
    #expect(stage.server.socket?.received.first?.contains("new") == true && more.state.short == "active")
    stage.connection.shutDown()
    stage.run()
    #expect(stage.server.sockets.allSatisfy { !$0.isOpen })
    #expect(streams.allSatisfy { $0.state.short == "finished(cancelled)" })
    let told = try stage.executor.run {
      var told: [String: Int] = [:]
      for await event in events {
        switch event {
        case .connected: told["connected", default: 0] += 1
        case .reconnected: told["reconnected", default: 0] += 1
        case .disconnected(let code, _): told["closed \(code ?? 0)", default: 0] += 1
        case .ping, .pong: break
        }
      }
      return told
    }
    #expect(told == ["connected": 5, "reconnected": 7, "closed 1001": 3, "closed 1000": 9])
  }

  @Test func `a lost connection disturbs only its own subscriptions`() throws {
    let stage = try stage(2)
    let streams = (1...4).map { _ in stage.subscribe() }
    stage.run()
    stage.onLoop { $0.sockets[0].cut() }
    #expect(streams.map(\.state.short) == ["reconnecting", "reconnecting", "active", "active"])
    stage.run(.seconds(2))
    #expect(streams.allSatisfy { $0.state.short == "active" } && stage.server.sockets.count == 3)
    #expect(streams.map(\.core.waiting) == [1, 1, 0, 0])
    // One that is given up takes only its own along.
    stage.onLoop { $0.sockets[1].close(4400, reason: "bad") }
    #expect(streams.map(\.state.short).suffix(2) == ["failed(connectionClosed)", "failed(connectionClosed)"])
    #expect(streams.prefix(2).allSatisfy { $0.state.short == "active" })
  }

  @Test func `a connection left empty closes after ten seconds, the first by the idle rule`() throws {
    for idle in [nil, Duration.seconds(3)] {
      let stage = try stage(1) { $0.idleTimeout = idle }
      var streams = (1...2).map { _ in stage.subscribe() }
      stage.run()
      for stream in streams { stream.cancel() }
      let wait = idle ?? .seconds(10)
      stage.run(wait - .milliseconds(10))
      #expect(stage.server.sockets.allSatisfy { $0.isOpen })
      stage.run(.milliseconds(20))
      #expect(stage.server.sockets.map(\.isOpen) == [idle == nil, false])
      streams = (1...2).map { _ in stage.subscribe() }
      stage.run()
      #expect(streams.allSatisfy { $0.state.short == "active" })
      #expect(stage.server.sockets.count == (idle == nil ? 3 : 4))
    }
  }

  @Test func `when every connection is full the next operation is refused`() throws {
    let stage = try stage(2) { $0.socketConnections = 2 }
    let streams = (1...5).map { _ in stage.subscribe() }
    stage.run()
    #expect(streams[4].state.short == "failed(overloaded)")
    #expect(streams.prefix(4).allSatisfy { $0.state.short == "active" } && starts(stage) == [2, 2])
  }
}
