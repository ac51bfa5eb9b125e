import MartletCore
import MartletSimulation
import MartletTesting
import MartletWireProtocols
import Testing

/// What each trigger does to a subscription in each state: the state afterwards, and what its loop sees.
@Suite struct SubscriptionTableTests {
  enum Start: CaseIterable { case pending, active, reconnecting, paused, finished }
  enum Trigger: CaseIterable {
    case call, confirmation, event, drop, failedRetry, lastRetry, pause, resume, serverComplete, serverError
    case taskCancel, methodCancel
  }

  /// Per trigger: pending, active, reconnecting, paused, finished. Where there is no socket the server can say
  /// nothing, and the cell shows that nothing changes.
  static let table: [Trigger: [String]] = [
    .call: ["pending: waits", "active: waits", "reconnecting: waits", "paused: waits", "finished(completed): ends"],
    .confirmation: [
      "active: waits", "failed(protocolViolation): throws protocolViolation", "reconnecting: waits", "paused: waits",
      "finished(completed): ends",
    ],
    .event: [
      "failed(protocolViolation): throws protocolViolation", "active: event waits", "reconnecting: waits",
      "paused: waits", "finished(completed): ends",
    ],
    .drop: [
      "pending: waits", "reconnecting: waits", "reconnecting: waits", "paused: waits", "finished(completed): ends",
    ],
    .failedRetry: [
      "pending: waits", "reconnecting: waits", "reconnecting: waits", "paused: waits", "finished(completed): ends",
    ],
    .lastRetry: [
      "failed(connectFailed): throws connectFailed", "failed(connectFailed): throws connectFailed",
      "failed(connectFailed): throws connectFailed", "paused: waits", "finished(completed): ends",
    ],
    .pause: ["paused: waits", "paused: waits", "paused: waits", "paused: waits", "finished(completed): ends"],
    .resume: [
      "pending: waits", "active: waits", "reconnecting: waits", "active: gap(serverCannotResume) waits",
      "finished(completed): ends",
    ],
    .serverComplete: [
      "failed(protocolViolation): throws protocolViolation", "finished(completed): ends", "reconnecting: waits",
      "paused: waits", "finished(completed): ends",
    ],
    .serverError: [
      "failed(protocolViolation): throws protocolViolation", "failed(operationFailed): throws operationFailed",
      "reconnecting: waits", "paused: waits", "finished(completed): ends",
    ],
    .taskCancel: [
      "finished(cancelled): ends", "finished(cancelled): ends", "finished(cancelled): ends",
      "finished(cancelled): ends", "finished(completed): ends",
    ],
    .methodCancel: [
      "finished(cancelled): ends", "finished(cancelled): ends", "finished(cancelled): ends",
      "finished(cancelled): ends", "finished(completed): ends",
    ],
  ]

  private func stage(in start: Start) throws -> Stage {
    let stage = try Stage { $0.reconnect.attempts = 3 }
    if start == .pending { stage.server.acknowledgement = nil }
    return stage
  }

  private func reach(_ start: Start, _ stage: Stage) {
    stage.run()
    switch start {
    case .pending, .active: break
    case .reconnecting: stage.onLoop { $0.socket?.cut() }
    case .paused:
      stage.connection.pause()
      stage.run()
    case .finished: stage.onLoop { $0.socket?.complete("1") }
    }
  }

  private func fire(
    _ trigger: Trigger, _ stage: Stage, _ stream: SubscriptionStream<SubscriptionEvent>, _ watcher: Watcher
  ) {
    switch trigger {
    case .call:
      let second = stage.subscribe()
      stage.run()
      #expect(!second.state.isFinished)
    case .confirmation: stage.onLoop { $0.socket?.say(#"{"type":"connection_ack"}"#) }
    case .event: stage.onLoop { $0.socket?.next("1", data: ["tick": 1]) }
    case .drop: stage.onLoop { $0.socket?.cut() }
    case .failedRetry:
      stage.server.door = .refuses()
      stage.onLoop { $0.socket?.cut() }
      stage.run(.milliseconds(600))
    case .lastRetry:
      stage.server.door = .refuses()
      stage.onLoop { $0.socket?.cut() }
      stage.run(.seconds(60))
    case .pause: stage.connection.pause()
    case .resume: stage.connection.resume()
    case .serverComplete: stage.onLoop { $0.socket?.complete("1") }
    case .serverError: stage.onLoop { $0.socket?.fail("1", message: "no") }
    case .taskCancel: watcher.cancelTask()
    case .methodCancel: stream.cancel()
    }
    stage.run()
  }

  @Test(arguments: Trigger.allCases) func `state and loop agree`(trigger: Trigger) throws {
    let row = try #require(Self.table[trigger])
    for (start, expected) in zip(Start.allCases, row) {
      let stage = try stage(in: start)
      let stream = stage.subscribe()
      let watcher = Watcher(stream, stage.executor)
      reach(start, stage)
      fire(trigger, stage, stream, watcher)
      #expect("\(stream.state.short): \(watcher.description)" == expected, "\(trigger) in \(start)")
      #expect(stage.executor.foreignEnqueues == 0)
    }
  }

  @Test(arguments: Start.allCases)
  func `dropping the stream cancels it in every state, and tells the server if it knows`(
    start: Start
  ) throws {
    let stage = try stage(in: start)
    var stream: SubscriptionStream<SubscriptionEvent>? = stage.subscribe()
    let core = try #require(stream?.core)
    reach(start, stage)
    stream = nil
    stage.run()
    #expect(core.state.short == (start == .finished ? "finished(completed)" : "finished(cancelled)"))
    #expect(stage.types(0).filter { $0 == "complete" }.count == (start == .active ? 1 : 0))
    stage.run(.seconds(60))
    #expect(stage.server.sockets.count == 1)
  }

  @Test func `ready waits through pending, reconnecting and paused, and fails with the subscription`() throws {
    for start in Start.allCases {
      let stage = try stage(in: start)
      let stream = stage.subscribe()
      reach(start, stage)
      let outcome = try stage.executor.run {
        stage.loop.schedule(later: .milliseconds(10)) {
          stage.server.acknowledgement = [:]
          if start == .pending { stage.server.socket?.say(#"{"type":"connection_ack"}"#) }
          stage.connection.resume()
        }
        do {
          try await stream.ready()
          return "ready"
        } catch let error as GraphQLClientError { return error.code.description }
      }
      #expect(outcome == (start == .finished ? "connectionClosed" : "ready"))
    }
  }
}
