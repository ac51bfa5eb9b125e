import Martlet
import MartletRuntime
import MartletSimulation
import MartletVocabulary
import Testing

/// Credentials of subscriptions by HTTP that end while their stream is open.
@Suite struct StreamRenewalTests {
  static let types = [SubscriptionMediaType.eventStream, .sharedEventStream, .multipart]

  /// A server of streams, each of which confirms its place and then sends one event.
  ///
  /// `@unchecked Sendable` because it is touched only inside the executor's pump, or between its runs.
  private final class Stage: @unchecked Sendable {
    let type: SubscriptionMediaType
    let givesCursors: Bool
    let server: ScriptedExchanges
    /// What each stream was opened with, and from where each subscription on it continues.
    private(set) var shown: [String] = []
    private(set) var resumed: [String] = []
    private(set) var stream: ScriptedExchanges.Exchange?
    private var shared = ""
    var whenBegun: ((Stage) -> Void)?

    init(_ type: SubscriptionMediaType, givesCursors: Bool = true) {
      self.type = type
      self.givesCursors = givesCursors
      server = ScriptedExchanges { _, _ in }
      server.script = { [unowned self] _, exchange in arrived(exchange) }
    }

    private func arrived(_ exchange: ScriptedExchanges.Exchange) {
      switch (type, exchange.request.method) {
      case (.sharedEventStream, "PUT"): exchange.answer(201, "text/plain", "token")
      case (.sharedEventStream, "GET"):
        open(exchange)
        exchange.send(":\n\n")
      case (.sharedEventStream, _):
        exchange.answer(202)
        shared = exchange.body["extensions"]?["operationId"]?.string ?? ""
        begin(exchange)
      default:
        open(exchange)
        if type == .multipart { exchange.send("--graphql") }
        begin(exchange)
      }
    }

    private func open(_ exchange: ScriptedExchanges.Exchange) {
      shown.append(exchange.header("Authorization") ?? "nothing")
      stream = exchange
      exchange.head(200, type == .multipart ? "multipart/mixed;boundary=graphql" : "text/event-stream")
    }

    private func begin(_ exchange: ScriptedExchanges.Exchange) {
      resumed.append(exchange.body["extensions"]?["martlet"]?["resume"]?.string ?? "the start")
      if givesCursors { send(HTTPSubscriptionTests.ready("a-\(shown.count * 10)")) }
      tick(shown.count * 10 + 1)
      whenBegun?(self)
    }

    /// The server ends the stream as it does when its credentials are withdrawn.
    func withdraw() {
      let errors = #"[{"message":"The credentials were withdrawn.","extensions":{"code":"UNAUTHENTICATED"}}]"#
      switch type {
      case .multipart:
        stream?.send(
          "\r\nContent-Type: application/json\r\n\r\n{\"payload\":null,\"errors\":\(errors)}\r\n--graphql--")
      case .sharedEventStream:
        stream?.send("event: next\ndata: {\"id\":\"\(shared)\",\"payload\":{\"errors\":\(errors)}}\n\n")
      default: stream?.send("event: next\ndata: {\"errors\":\(errors)}\n\nevent: complete\ndata:\n\n")
      }
    }

    func tick(_ number: Int) { send(HTTPSubscriptionTests.tick(number, givesCursors ? "a-\(number)" : nil)) }

    private func send(_ result: String) {
      switch type {
      case .multipart:
        stream?.send("\r\nContent-Type: application/json\r\n\r\n{\"payload\":\(result)}\r\n--graphql")
      case .sharedEventStream:
        stream?.send("event: next\ndata: {\"id\":\"\(shared)\",\"payload\":\(result)}\n\n")
      default: stream?.send("event: next\ndata: \(result)\n\n")
      }
    }
  }

  /// Follows a subscription for some time, and returns its events and what the provider was asked.
  private func follow(
    _ stage: Stage, for time: Duration, resumes: Bool = true,
    _ provider: @escaping @Sendable (_ number: Int, _ reason: CredentialReason) throws -> Credentials
  ) throws -> (events: [Int64], gaps: Int, reasons: [CredentialReason], isActive: Bool) {
    let reasons = Recorder<CredentialReason>()
    let client = try stage.server.client {
      $0.subscriptionMediaType = stage.type
      $0.resumesHTTPSubscriptions = resumes
      $0.keepAliveTimeout = .seconds(100_000)
      $0.reconnect.jitter = 0
      $0.credentials = { reason in
        reasons.add(reason)
        return try provider(reasons.all.count, reason)
      }
    }
    let stream = client.subscribe("subscription { tick }")
    let events = Recorder<Int64>()
    let gaps = Recorder<Int64>()
    _ = stage.server.executor.spawner.spawn {
      do {
        for try await result in stream {
          if result.gap == nil { events.add(result.data?["tick"]?.int ?? -1) } else { gaps.add(1) }
        }
      } catch { events.add(-2) }
    }
    stage.server.executor.run(for: time)
    let isActive = stream.state.description.hasPrefix("active")
    stream.cancel()
    return (events.all, gaps.all.count, reasons.all, isActive)
  }

  private static func token(_ number: Int, _ life: Duration?) -> Credentials {
    var credentials = Credentials.bearer("\(number)")
    credentials.expiresIn = life
    return credentials
  }

  @Test(arguments: types) func `a stream is replaced before its credentials end, and resumes after its last event`(
    type: SubscriptionMediaType
  ) throws {
    let stage = Stage(type)
    let seen = try follow(stage, for: .seconds(95), resumes: false) { number, _ in Self.token(number, .seconds(60)) }
    // Half a minute before the end of each.
    #expect(seen.reasons == [.request, .expiring, .expiring, .expiring])
    #expect(stage.shown == ["Bearer 1", "Bearer 2", "Bearer 3", "Bearer 4"])
    #expect(stage.resumed == ["the start", "a-11", "a-21", "a-31"])
    #expect(seen.events == [11, 21, 31, 41] && seen.gaps == 0 && seen.isActive)
  }

  @Test(arguments: types) func `without cursors and without the application's leave a stream stays until its end`(
    type: SubscriptionMediaType
  ) throws {
    let stage = Stage(type, givesCursors: false)
    let seen = try follow(stage, for: .seconds(95), resumes: false) { number, _ in Self.token(number, .seconds(60)) }
    #expect(seen.reasons == [.request] && stage.shown == ["Bearer 1"] && seen.isActive)
    let other = Stage(type, givesCursors: false)
    let replaced = try follow(other, for: .seconds(40)) { number, _ in Self.token(number, .seconds(60)) }
    #expect(replaced.reasons == [.request, .expiring] && other.shown == ["Bearer 1", "Bearer 2"])
  }

  @Test(arguments: types) func `a provider that fails leaves the stream as it is`(type: SubscriptionMediaType) throws {
    let stage = Stage(type)
    let seen = try follow(stage, for: .seconds(95)) { number, _ in
      if number > 1 { throw OIDCFailure() }
      return Self.token(number, .seconds(60))
    }
    #expect(seen.reasons == [.request, .expiring] && stage.shown == ["Bearer 1"] && seen.isActive)
  }

  @Test(arguments: types) func `credentials that end no later are not shown, and are asked for at most once a second`(
    type: SubscriptionMediaType
  ) throws {
    for life in [Duration.zero, .milliseconds(20)] {
      let stage = Stage(type)
      let seen = try follow(stage, for: .seconds(10)) { number, reason in
        Self.token(number, reason == .expiring ? life : .seconds(4))
      }
      #expect((2...11).contains(seen.reasons.count), "\(life): \(seen.reasons)")
      #expect(stage.shown.count <= (life == .zero ? 1 : 9), "\(life): \(stage.shown)")
    }
  }

  @Test(arguments: types)
  func `a stream whose credentials the server ends resumes with others, and fails without a provider`(
    type: SubscriptionMediaType
  ) throws {
    let stage = Stage(type)
    stage.whenBegun = { stage in
      // The server stops accepting the token.
      if stage.shown.count == 1 { stage.withdraw() }
    }
    let seen = try follow(stage, for: .seconds(20), resumes: false) { number, _ in Self.token(number, nil) }
    #expect(stage.shown == ["Bearer 1", "Bearer 2"] && stage.resumed == ["the start", "a-11"])
    #expect(seen.events == [11, 21] && seen.gaps == 0 && seen.isActive)
    #expect(seen.reasons.first == .request && seen.reasons.count == 2)
    let open = Stage(type)
    open.whenBegun = { $0.withdraw() }
    let client = try open.server.client { $0.subscriptionMediaType = type }
    let stream = client.subscribe("subscription { tick }")
    open.server.executor.run(for: .seconds(5))
    guard case .finished(.error(let error)) = stream.state else {
      Issue.record("\(stream.state)")
      return
    }
    #expect((error as? GraphQLClientError)?.code == .unauthorized)
  }

  private struct OIDCFailure: Error {}
}
