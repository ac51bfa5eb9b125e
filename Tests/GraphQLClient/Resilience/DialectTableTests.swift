import MartletGraphQLClient
import Testing

/// What each trigger does to a subscription in each dialect: the state, what its loop sees, and whether the server
/// learns of it. The states are those of the guide (docs/guides/subscribe.md).
@Suite struct DialectTableTests {
  enum Trigger: CaseIterable {
    case call, confirmation, event, drop, failedRetry, pause, resume, serverComplete, serverError
    case taskCancel, methodCancel, dropOfTheStream
  }

  enum Cell: Equatable {
    case becomes(String)
    /// The trigger does not exist there, or has no such effect; the text is what is there instead.
    case impossible(String)
  }

  private static func all(_ cell: Cell) -> [Cell] { Array(repeating: cell, count: Travel.allCases.count) }

  private static func each(sockets: String, http: Cell) -> [Cell] {
    Travel.allCases.map { $0.isHTTP ? http : .becomes(sockets) }
  }

  /// Per trigger: resuming, graphqlTransportWS, graphqlWS, appSync, multipart, eventStream. Each trigger meets a
  /// subscription where it can: `confirmation` one that was sent, `failedRetry` one that was lost, `resume` one that
  /// was paused, the rest a live one.
  static let table: [Trigger: [Cell]] = [
    .call: all(.becomes("pending: waits")),
    .confirmation: [
      .becomes("active, confirmed: waits"), .impossible("active: waits"), .impossible("active: waits"),
      .becomes("active, confirmed: waits"), .becomes("active: waits"), .becomes("active: waits"),
    ],
    .event: Travel.allCases.map {
      .becomes($0 == .resuming || $0 == .appSync ? "active, confirmed: event waits" : "active: event waits")
    },
    .drop: each(sockets: "reconnecting: waits", http: .becomes("failed(connectionLost): throws connectionLost")),
    .failedRetry: each(
      sockets: "reconnecting: waits", http: .impossible("failed(connectionLost): throws connectionLost")),
    .pause: each(sockets: "paused: waits", http: .impossible("active: waits")),
    .resume: [
      .becomes("active, confirmed: waits"), .becomes("active: gap(serverCannotResume) waits"),
      .becomes("active: gap(serverCannotResume) waits"),
      .becomes("active, confirmed: gap(serverCannotResume) waits"), .impossible("active: waits"),
      .impossible("active: waits"),
    ],
    .serverComplete: all(.becomes("finished(completed): ends")),
    // Server-sent events know no error of the stream: it comes as a result, and then the stream completes.
    .serverError: Travel.allCases.map {
      $0 == .eventStream
        ? .impossible("finished(completed): event ends")
        : .becomes("failed(operationFailed): throws operationFailed")
    },
    .taskCancel: all(.becomes("finished(cancelled): ends, and the server hears it")),
    .methodCancel: all(.becomes("finished(cancelled): ends, and the server hears it")),
    .dropOfTheStream: all(.becomes("finished(cancelled), and the server hears it")),
  ]

  private static func text(_ core: SubscriptionCore) -> String {
    core.state.short + (core.isConfirmed ? ", confirmed" : "")
  }

  private func observe(_ trigger: Trigger, _ travel: Travel) throws -> Cell {
    let world = try travel.world()
    var stream: SubscriptionStream<SubscriptionEvent>? = try world.subscribe()
    let core = try #require(stream?.core)
    if trigger == .dropOfTheStream {
      world.connect()
      world.confirm()
      stream = nil
      world.run()
      return .becomes(Self.text(core) + (world.heardEnd ? ", and the server hears it" : ""))
    }
    let watcher = Watcher(try #require(stream), world.executor)
    defer { watcher.cancelTask() }
    func cell(isPossible: Bool = true, heard: Bool = false) -> Cell {
      let text = "\(Self.text(core)): \(watcher.description)" + (heard ? ", and the server hears it" : "")
      return isPossible ? .becomes(text) : .impossible(text)
    }
    if trigger == .call { return cell() }
    world.connect()
    if trigger == .confirmation {
      let before = Self.text(core)
      world.confirm()
      // Where nothing is confirmed, the written message has made it active.
      return cell(isPossible: before == "pending")
    }
    world.confirm()
    var isPossible = true
    switch trigger {
    case .call, .confirmation, .dropOfTheStream: break
    case .event: world.event()
    case .drop:
      world.closeDoor()
      world.drop()
    case .failedRetry:
      world.closeDoor()
      world.drop()
      let before = world.attempts
      world.run(.seconds(3))
      isPossible = world.attempts > before
    case .pause: isPossible = world.pause()
    case .resume:
      isPossible = world.pause() && world.resume()
      if isPossible { world.confirm() }
    case .serverComplete: world.complete()
    case .serverError:
      world.fail()
      if case .error = core.state.end {} else { isPossible = false }
    case .taskCancel: watcher.cancelTask()
    case .methodCancel: stream?.cancel()
    }
    world.run()
    let isOwn = trigger == .taskCancel || trigger == .methodCancel
    return cell(isPossible: isPossible, heard: isOwn && world.heardEnd)
  }

  @Test(arguments: Trigger.allCases, Travel.allCases)
  func `state, loop and server agree in every dialect`(trigger: Trigger, travel: Travel) throws {
    let row = try #require(Self.table[trigger])
    let place = try #require(Travel.allCases.firstIndex(of: travel))
    #expect(row.count == Travel.allCases.count)
    #expect(try observe(trigger, travel) == row[place])
  }

  /// Seed 003 names no other states, and over HTTP only three of them.
  @Test(arguments: Travel.allCases)
  func `over HTTP a subscription is pending, active, finished and nothing else`(travel: Travel) throws {
    guard travel.isHTTP else { return }
    for (trigger, row) in Self.table {
      for (cell, travel) in zip(row, Travel.allCases) where travel.isHTTP {
        let text =
          switch cell {
          case .becomes(let text), .impossible(let text): text
          }
        #expect(!text.hasPrefix("reconnecting") && !text.hasPrefix("paused"), "\(trigger)")
      }
    }
  }

  /// What makes it active: this package's confirmation, `start_ack`, the written message, the first part, the first
  /// byte.
  @Test(arguments: Travel.allCases) func `it becomes active where its dialect says so`(travel: Travel) throws {
    let world = try travel.world()
    let stream = try world.subscribe()
    #expect(stream.state.short == "pending")
    world.connect()
    switch travel {
    case .graphqlTransportWS, .graphqlWS: #expect(stream.state.short == "active" && !stream.isConfirmed)
    case .resuming, .appSync, .multipart, .eventStream:
      #expect(stream.state.short == "pending")
      world.confirm()
      #expect(stream.state.short == "active")
      #expect(stream.isConfirmed == !travel.isHTTP)
    }
  }
}

extension SubscriptionState {
  fileprivate var end: SubscriptionEnd? {
    if case .finished(let end) = self { return end }
    return nil
  }
}
