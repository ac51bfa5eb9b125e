import MartletGraphQLClient
import MartletGraphQLWire
import MartletJSON
import MartletSimulation
import MartletTesting
import Testing

/// What a client does in the two older dialects: its states, its events, its ends.
@Suite struct OlderDialectTests {
  private let data = #"{"id":"1","type":"data","payload":{"data":{"tick":1}}}"#

  @Test(arguments: OlderDialect.allCases) func `pending, active, an event, completed`(dialect: OlderDialect) throws {
    let stage = try dialect.stage()
    let stream = stage.subscribe()
    let watcher = Watcher(stream, stage.executor)
    stage.run()
    #expect(stage.types(0) == ["connection_init", "start"])
    #expect(stream.state.short == (dialect == .graphqlWS ? "active" : "pending"))
    dialect.confirm(1...1, stage)
    #expect(stream.state.short == "active" && stream.isConfirmed == (dialect == .appSync))
    let data = self.data
    stage.onLoop { $0.socket?.say(data) }
    stage.onLoop { $0.socket?.say(#"{"id":"1","type":"complete"}"#) }
    #expect(watcher.description == "event ends")
    #expect(stream.state.short == "finished(completed)")
    #expect(stage.types(0) == ["connection_init", "start"])
  }

  @Test func `an AppSync server that forgets to confirm shows by its data that the subscription is live`() throws {
    let stage = try OlderDialect.appSync.stage()
    let stream = stage.subscribe()
    stage.run()
    let data = self.data
    stage.onLoop { $0.socket?.say(data) }
    #expect(stream.state.short == "active" && stream.core.waiting == 1)
  }

  @Test(arguments: OlderDialect.allCases) func `cancelling stops on the server and ignores its confirmation`(
    dialect: OlderDialect
  ) throws {
    let stage = try dialect.stage()
    let stream = stage.subscribe()
    let keeper = stage.subscribe()
    stage.run()
    dialect.confirm(1...2, stage)
    stream.cancel()
    stage.run()
    #expect(stage.server.socket?.received.last == #"{"id":"1","type":"stop"}"#)
    let data = self.data
    stage.onLoop { $0.socket?.say(data) }
    stage.onLoop { $0.socket?.say(#"{"id":"1","type":"complete"}"#) }
    #expect(stream.state.short == "finished(cancelled)" && keeper.state.short == "active")
  }

  @Test(arguments: OlderDialect.allCases) func `a lost connection is dialled again, and the gap is reported`(
    dialect: OlderDialect
  ) throws {
    let stage = try dialect.stage()
    let stream = stage.subscribe()
    let watcher = Watcher(stream, stage.executor)
    stage.run()
    dialect.confirm(1...1, stage)
    stage.onLoop { $0.socket?.cut() }
    #expect(stream.state.short == "reconnecting")
    stage.run(.seconds(2))
    #expect(stage.types(1) == ["connection_init", "start"])
    dialect.confirm(1...1, stage)
    #expect(stream.state.short == "active")
    #expect(watcher.description == "gap(serverCannotResume) waits")
  }

  @Test(arguments: OlderDialect.allCases) func `an error ends its subscription with what the server said`(
    dialect: OlderDialect
  ) throws {
    let stage = try dialect.stage()
    let streams = (1...2).map { _ in stage.subscribe() }
    stage.run()
    dialect.confirm(1...2, stage)
    stage.onLoop {
      $0.socket?.say(#"{"id":"1","type":"error","payload":{"errors":[{"message":"no","errorType":"X"}]}}"#)
    }
    #expect(streams[0].state.error?.code == .operationFailed && streams[0].state.error?.message == "no")
    #expect(streams[0].state.error?.errors == [["message": "no", "errorType": "X"]])
    #expect(streams[1].state.short == "active")
  }

  @Test(arguments: OlderDialect.allCases) func `a server that never acknowledges is given up at the deadline`(
    dialect: OlderDialect
  ) throws {
    let stage = try dialect.stage()
    stage.server.acknowledgement = nil
    let stream = stage.subscribe()
    stage.run(.seconds(9))
    #expect(stage.server.sockets.count == 1)
    stage.run(.seconds(2))
    #expect(stage.server.sockets.count == 2 && stage.server.sockets[0].clientClose?.code == 4504)
    #expect(stream.state.short == "pending")
  }

  @Test func `a server that stops sending keep-alives is dead`() throws {
    let graphqlWS = try OlderDialect.graphqlWS.stage { $0.keepAliveTimeout = .seconds(20) }
    let stream = graphqlWS.subscribe()
    graphqlWS.run(.seconds(1_000))
    #expect(stream.state.short == "active" && graphqlWS.server.sockets.count == 1)
    graphqlWS.onLoop { $0.socket?.say(#"{"type":"ka"}"#) }
    graphqlWS.run(.seconds(19))
    #expect(graphqlWS.server.sockets.count == 1)
    graphqlWS.run(.seconds(3))
    #expect(graphqlWS.server.sockets.count == 2 && graphqlWS.server.sockets[0].clientClose?.code == 4499)

    let appSync = try OlderDialect.appSync.stage()
    appSync.server.acknowledgement = ["connectionTimeoutMs": 5_000]
    let other = appSync.subscribe()
    appSync.run()
    OlderDialect.appSync.confirm(1...1, appSync)
    appSync.run(.seconds(4))
    #expect(appSync.server.sockets.count == 1 && other.state.short == "active")
    appSync.run(.seconds(3))
    #expect(appSync.server.sockets.count == 2)
  }

  @Test func `queries go by a graphql-ws socket and are refused on AppSync's`() throws {
    let graphqlWS = try OlderDialect.graphqlWS.stage { $0.requestTransport = .socket }
    let (server, loop, connection) = (graphqlWS.server, graphqlWS.loop, graphqlWS.connection)
    let payload = try graphqlWS.executor.run {
      loop.schedule(later: .milliseconds(5)) {
        server.socket?.say(#"{"id":"1","type":"data","payload":{"data":{"a":1}}}"#)
        server.socket?.say(#"{"id":"1","type":"complete"}"#)
      }
      return try await connection.perform(RequestPayload(query: "{ a }"), .query)
    }
    #expect(payload.description == #"{"data":{"a":1}}"#)

    let appSync = try OlderDialect.appSync.stage { $0.requestTransport = .socket }
    let other = appSync.connection
    let code = try appSync.executor.run {
      do {
        _ = try await other.perform(RequestPayload(query: "{ a }"), .query)
        return "answered"
      } catch let error as GraphQLClientError { return error.code.description }
    }
    #expect(code == "invalidRequest" && appSync.server.attempts.isEmpty)
  }

  @Test func `shutting down sends what each protocol ends a connection with`() throws {
    for dialect in OlderDialect.allCases {
      let stage = try dialect.stage()
      let stream = stage.subscribe()
      stage.run()
      stage.connection.shutDown()
      stage.run()
      #expect(stage.types(0).last == (dialect == .graphqlWS ? "connection_terminate" : "stop"))
      #expect(stage.server.sockets[0].clientClose?.code == 1000 && stream.state.short == "finished(cancelled)")
    }
  }

  // MARK: AppSync's authorization

  @Test func `the authorization has the host, the fixed members and the fresh ones, in handshake and start`() throws {
    let stage = try OlderDialect.appSync.stage {
      $0.credentials = { _ in .bearer("t") }
    }
    let stream = stage.subscribe()
    stage.run()
    let attempt = try #require(stage.server.attempts.first)
    #expect(attempt.target == "/graphql/realtime" && attempt.host == "example.test")
    #expect(attempt.subprotocols.count == 2 && attempt.headers.isEmpty)
    let blob: JSONObject = ["host": "example.test", "Authorization": "Bearer t", "x-api-key": "k"]
    let sent = try AppSyncRealtime.authorization(query: nil, subprotocols: attempt.subprotocols)
    #expect(sent == blob)
    let start = try JSONValue(parsing: try #require(stage.server.socket?.received.last))
    #expect(start["payload"]?["extensions"]?["authorization"]?.object == blob)
    #expect(stage.server.socket?.received.first == #"{"type":"connection_init"}"#)
    stream.cancel()
  }

  @Test func `the query and header fields carry it on request`() throws {
    for passing in [AppSyncConfiguration.Passing.query, .headers] {
      let stage = try OlderDialect.appSync.stage {
        $0.appSync.passing = passing
        $0.appSync.host = "api"
      }
      let stream = stage.subscribe()
      stage.run()
      let attempt = try #require(stage.server.attempts.first)
      #expect(attempt.subprotocols == ["graphql-ws"])
      if passing == .query {
        let query = attempt.target.split(separator: "?").last.map(String.init)
        let sent = try AppSyncRealtime.authorization(query: query, subprotocols: [])
        #expect(sent == ["host": "api", "x-api-key": "k"] && attempt.headers.isEmpty)
      } else {
        #expect(attempt.headers.map(\.name) == ["x-api-key"] && attempt.headers.map(\.value) == ["k"])
      }
      stream.cancel()
    }
  }
}
