import MartletGraphQLClient
import MartletSimulation
import MartletTesting
import MartletWire
import Testing

/// What each trigger does to a subscription in each state and each dialect: the state afterwards, and what its loop
/// sees.
@Suite struct SubscriptionTableTests {

  /// `sent`: written to an acknowledged socket, and not confirmed yet; only AppSync's dialect distinguishes it from
  /// `active`.
  enum Start: CaseIterable { case pending, sent, active, reconnecting, paused, finished }
  enum Trigger: CaseIterable {
    case call, acknowledgement, confirmation, event, drop, failedRetry, lastRetry, pause, resume, serverComplete
    case serverError, taskCancel, methodCancel
  }

  /// Per trigger: pending, sent, active, reconnecting, paused, finished; `graphql-transport-ws`. Where there is no
  /// socket the server can say nothing, and the cell shows that nothing changes.
  static let table: [Trigger: [String]] = [
    .call: [
      "pending: waits", "active: waits", "active: waits", "reconnecting: waits", "paused: waits",
      "finished(completed): ends",
    ],
    .acknowledgement: [
      "active: waits", violation, violation, "reconnecting: waits", "paused: waits", "finished(completed): ends",
    ],
    // This package's servers say `ready`, with which a stream of the program's own has no place.
    .confirmation: [
      violation, "active: waits", "active: waits", "reconnecting: waits", "paused: waits", "finished(completed): ends",
    ],
    .event: [
      violation, "active: event waits", "active: event waits", "reconnecting: waits", "paused: waits",
      "finished(completed): ends",
    ],
    .drop: [
      "pending: waits", "reconnecting: waits", "reconnecting: waits", "reconnecting: waits", "paused: waits",
      "finished(completed): ends",
    ],
    .failedRetry: [
      "pending: waits", "reconnecting: waits", "reconnecting: waits", "reconnecting: waits", "paused: waits",
      "finished(completed): ends",
    ],
    .lastRetry: [
      "failed(connectFailed): throws connectFailed", "failed(connectFailed): throws connectFailed",
      "failed(connectFailed): throws connectFailed", "failed(connectFailed): throws connectFailed", "paused: waits",
      "finished(completed): ends",
    ],
    .pause: [
      "paused: waits", "paused: waits", "paused: waits", "paused: waits", "paused: waits", "finished(completed): ends",
    ],
    .resume: [
      "pending: waits", "active: waits", "active: waits", "reconnecting: waits",
      "active: gap(serverCannotResume) waits", "finished(completed): ends",
    ],
    .serverComplete: [
      violation, "finished(completed): ends", "finished(completed): ends", "reconnecting: waits", "paused: waits",
      "finished(completed): ends",
    ],
    .serverError: [
      violation, "failed(operationFailed): throws operationFailed", "failed(operationFailed): throws operationFailed",
      "reconnecting: waits", "paused: waits", "finished(completed): ends",
    ],
    .taskCancel: cancelled,
    .methodCancel: cancelled,
  ]

  private static let violation = "failed(protocolViolation): throws protocolViolation"
  private static let cancelled =
    Array(repeating: "finished(cancelled): ends", count: Start.allCases.count - 1) + ["finished(completed): ends"]

  /// What the older dialects do otherwise, with the reason.
  static let differences: [Dialect: [Trigger: [Start: String]]] = [
    .graphqlTransportWS: [:],
    .graphqlWS: [
      // Its servers acknowledge as often as they are asked.
      .acknowledgement: [.sent: "active: waits", .active: "active: waits"],
      // `start_ack` is AppSync's: the server speaks another protocol.
      .confirmation: [.pending: mismatch, .sent: mismatch, .active: mismatch],
    ],
    .appSync: [
      // A subscription that was sent is not active before it is confirmed, and one that never was has lost nothing.
      .call: [.sent: "pending: waits"], .acknowledgement: [.sent: "pending: waits", .active: "active: waits"],
      .drop: [.sent: "pending: waits"], .failedRetry: [.sent: "pending: waits"], .resume: [.sent: "pending: waits"],
    ],
  ]

  private static let mismatch = "failed(protocolMismatch): throws protocolMismatch"

  private func stage(_ dialect: Dialect, in start: Start) throws -> Stage {
    let stage = try Stage {
      $0.reconnect.attempts = 3
      $0.dialect = dialect
    }
    stage.server.dialect = dialect
    if start == .pending { stage.server.acknowledgement = nil }
    if start == .sent { stage.server.confirms = false }
    return stage
  }

  private func reach(_ start: Start, _ stage: Stage) {
    stage.run()
    switch start {
    case .pending, .sent, .active: break
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
    case .acknowledgement:
      stage.onLoop {
        let payload = $0.dialect == .appSync ? #"{"connectionTimeoutMs":300000}"# : "{}"
        $0.socket?.say(#"{"type":"connection_ack","payload":\#(payload)}"#)
      }
    case .confirmation:
      stage.onLoop {
        $0.socket?.say(#"{"id":"1","type":"\#($0.dialect == .graphqlTransportWS ? "ready" : "start_ack")"}"#)
      }
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

  @Test(arguments: Dialect.allCases, Trigger.allCases) func `state and loop agree`(
    dialect: Dialect, trigger: Trigger
  ) throws {
    let row = try #require(Self.table[trigger])
    #expect(row.count == Start.allCases.count)
    for (start, usual) in zip(Start.allCases, row) {
      let expected = Self.differences[dialect]?[trigger]?[start] ?? usual
      let stage = try stage(dialect, in: start)
      let stream = stage.subscribe()
      let watcher = Watcher(stream, stage.executor)
      reach(start, stage)
      fire(trigger, stage, stream, watcher)
      #expect("\(stream.state.short): \(watcher.description)" == expected, "\(trigger) in \(start), \(dialect)")
      #expect(stage.executor.foreignEnqueues == 0)
    }
  }

  @Test(arguments: Dialect.allCases, Start.allCases)
  func `dropping the stream cancels it in every state, and notifies a server that knows it`(
    dialect: Dialect, start: Start
  ) throws {
    let stage = try stage(dialect, in: start)
    var stream: SubscriptionStream<SubscriptionEvent>? = stage.subscribe()
    let core = try #require(stream?.core)
    reach(start, stage)
    stream = nil
    stage.run()
    #expect(core.state.short == (start == .finished ? "finished(completed)" : "finished(cancelled)"))
    let end = dialect == .graphqlTransportWS ? "complete" : "stop"
    let isKnown = start == .sent || start == .active || (start == .paused && dialect == .appSync)
    #expect(stage.types(0).filter { $0 == end }.count == (isKnown ? 1 : 0))
    stage.run(.seconds(60))
    #expect(stage.server.sockets.count == 1)
  }

  @Test(arguments: Dialect.allCases)
  func `ready waits through pending, reconnecting and paused, and fails with the subscription`(dialect: Dialect) throws
  {
    for start in Start.allCases {
      let stage = try stage(dialect, in: start)
      let stream = stage.subscribe()
      reach(start, stage)
      let outcome = try stage.executor.run {
        stage.loop.schedule(later: .milliseconds(10)) {
          stage.server.acknowledgement = [:]
          stage.server.confirms = true
          let payload = dialect == .appSync ? #"{"connectionTimeoutMs":300000}"# : "{}"
          if start == .pending { stage.server.socket?.say(#"{"type":"connection_ack","payload":\#(payload)}"#) }
          if start == .sent, dialect == .appSync { stage.server.socket?.say(#"{"id":"1","type":"start_ack"}"#) }
          stage.connection.resume()
        }
        do {
          try await stream.ready()
          return "ready"
        } catch let error as GraphQLClientError { return error.code.description }
      }
      #expect(outcome == (start == .finished ? "connectionClosed" : "ready"), "\(start), \(dialect)")
    }
  }
}
