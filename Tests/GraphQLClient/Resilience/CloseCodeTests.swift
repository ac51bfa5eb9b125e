import MartletGraphQLClient
import MartletGraphQLWire
import MartletRuntime
import MartletSimulation
import MartletTesting
import MartletWire
import Testing

/// Every close code a server or the wire may end with, before the acknowledgement, after it, and under three live
/// subscriptions: whether the client comes back, with which error it does not, and what state says.
@Suite struct CloseCodeTests {
  enum Outcome: Equatable {
    case retried
    /// Asks for credentials once, at once; a second refusal is final.
    case refreshed
    case failed(GraphQLClientError.Code)
  }

  static let table: [(codes: [UInt16], outcome: Outcome)] = [
    ([1000, 1001, 1005, 1006, 1012, 1013, 1014, 4408, 4499, 4504], .retried),
    ([3000, 4000, 4100, 4999], .retried),
    ([1002, 1003, 1007, 1008, 1009, 1010, 1011, 1015], .failed(.connectionClosed)),
    ([4005, 4400, 4409, 4429, 4500], .failed(.connectionClosed)),
    ([4406], .failed(.protocolMismatch)),
    ([4004], .failed(.protocolViolation)),
    ([4401, 4403], .refreshed),
  ]
  static let cells: [(UInt16, Outcome)] = table.flatMap { row in row.codes.map { ($0, row.outcome) } }

  private func check(
    _ stage: Stage, _ streams: [SubscriptionStream<SubscriptionEvent>], _ code: UInt16, _ outcome: Outcome,
    wasLive: Bool
  ) {
    let close = WebSocketCloseCode(rawValue: code)
    let events = stage.connection.connectionEvents
    let told = Recorder<ConnectionEvent>()
    stage.executor.spawner.spawn {
      for await event in events {
        told.add(event)
        break
      }
    }
    stage.onLoop { $0.socket?.end(close, "because") }
    // The code and the reason as the server gave them, whether the client comes back or not.
    #expect(told.all == [.disconnected(code: Int(code), reason: "because")])
    switch outcome {
    case .retried:
      #expect(stage.server.sockets.count == 1)
      for stream in streams { #expect(stream.state.short == (wasLive ? "reconnecting" : "pending")) }
      stage.server.acknowledgement = [:]
      stage.run(.seconds(2))
      #expect(stage.server.sockets.count == 2)
      for stream in streams { #expect(stream.state.short == "active") }
    case .refreshed:
      #expect(stage.server.sockets.count == 2)
      stage.onLoop { $0.socket?.end(close, "again") }
      for stream in streams {
        #expect(stream.state.short == "failed(unauthorized)")
        #expect(stream.state.error?.closeCode == Int(code))
        #expect(stream.state.error?.message == "again")
      }
      stage.run(.seconds(600))
      #expect(stage.server.attempts.count == 2)
    case .failed(let kind):
      for stream in streams {
        #expect(stream.state.error?.code == kind)
        #expect(stream.state.error?.closeCode == Int(code))
        let offer = kind == .protocolMismatch ? "graphql-transport-ws was offered; " : ""
        #expect(stream.state.error?.message == offer + "because")
      }
      stage.run(.seconds(600))
      #expect(stage.server.attempts.count == 1)
    }
  }

  @Test(arguments: cells) func `before the acknowledgement`(code: UInt16, outcome: Outcome) throws {
    let stage = try Stage()
    stage.server.acknowledgement = nil
    let stream = stage.subscribe()
    stage.run()
    #expect(stage.types(0) == ["connection_init"])
    check(stage, [stream], code, outcome, wasLive: false)
  }

  @Test(arguments: cells) func `after it, with one subscription`(code: UInt16, outcome: Outcome) throws {
    let stage = try Stage()
    let stream = stage.subscribe()
    stage.run()
    #expect(stream.state.short == "active")
    check(stage, [stream], code, outcome, wasLive: true)
  }

  @Test(arguments: cells) func `after it, with three live subscriptions`(code: UInt16, outcome: Outcome) throws {
    let stage = try Stage()
    let streams = (1...3).map { _ in stage.subscribe() }
    stage.run()
    #expect(streams.allSatisfy { $0.state.short == "active" })
    check(stage, streams, code, outcome, wasLive: true)
  }

  @Test(arguments: cells) func `after it, with nothing open, no connection is dialled until the next operation`(
    code: UInt16, outcome: Outcome
  ) throws {
    let stage = try Stage()
    let stream = stage.subscribe()
    stage.run()
    stream.cancel()
    stage.run()
    stage.onLoop { $0.socket?.end(WebSocketCloseCode(rawValue: code), "because") }
    stage.run(.seconds(600))
    #expect(stage.server.attempts.count == 1)
    let next = stage.subscribe()
    stage.run()
    #expect(stage.server.attempts.count == 2)
    #expect(next.state.short == "active")
  }

  @Test(arguments: [1006, 4400, 4403, 4500] as [UInt16])
  func `a query fails as lost and a mutation as unknown, whatever the code`(code: UInt16) throws {
    let stage = try Stage()
    let (server, loop, connection) = (stage.server, stage.loop, stage.connection)
    for isMutation in [false, true] {
      let seen = try stage.executor.run {
        loop.schedule(later: .milliseconds(5)) { server.socket?.end(WebSocketCloseCode(rawValue: code), "x") }
        do {
          _ = try await connection.perform(RequestPayload(query: "{ a }"), isMutation ? .mutation : .query)
          return "answered"
        } catch let error as GraphQLClientError { return error.code.description }
      }
      #expect(seen == (isMutation ? "outcomeUnknown" : "connectionLost"))
    }
  }
}
