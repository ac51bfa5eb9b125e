import MartletJSON
import MartletRuntime
import MartletVocabulary

/// What `StreamAttempts` opens and ends. Confined to its loop.
protocol StreamOwner: AnyObject {
  /// Whether there are subscriptions to serve.
  var isNeeded: Bool { get }
  /// Whether the stream can be replaced by another one without a loss that the application did not allow.
  var isReplaceable: Bool { get }
  /// Whether a consumer has no room, so that nothing is read.
  var isHeld: Bool { get }
  /// Makes the stream's first request, with these credentials.
  func open(with credentials: Credentials)
  /// Ends all requests of the stream.
  func letGo()
  /// The stream is made again: its subscribers get the event, with the reason.
  func reconnect(because reason: String)
  /// Ends the stream's subscriptions.
  func fail(_ error: GraphQLClientError)
}

/// One event stream after another: asks for credentials, notices silence, renews the credentials before they end, and
/// makes a lost stream again where the application allows it. Confined to its loop.
final class StreamAttempts {
  weak var owner: (any StreamOwner)?
  let attempts: ConnectionAttempts
  private let silence: SilenceWatch
  private let renewal: StreamRenewal
  /// Whether streams that are lost are made again.
  private let resumes: Bool
  private let events: ConnectionEvents
  private var hasConnected = false
  /// The stream was lost while a consumer had no room: another one would fill memory.
  private var waitsForRoom = false

  init(_ configuration: ConnectionConfiguration, _ environment: ClientEnvironment, _ events: ConnectionEvents) {
    self.events = events
    resumes = configuration.resumesHTTPSubscriptions
    attempts = ConnectionAttempts(.stream, configuration, environment)
    silence = SilenceWatch(environment.loop)
    renewal = StreamRenewal(attempts, configuration, on: environment.loop)
    attempts.onDue = { [weak self] _, answer in self?.due(answer) }
    renewal.isReplaceable = { [weak self] in self?.owner?.isReplaceable ?? false }
    renewal.onRenewed = { [weak self] in self?.replace(with: $0) }
  }

  private func due(_ answer: Result<Credentials, any Error>) {
    switch answer {
    case .success(let credentials): owner?.open(with: credentials)
    case .failure(let error): lose(GraphQLClientError(.connectFailed, "no credentials", underlying: error))
    }
  }

  /// Credentials are in use from now on.
  func follow(_ credentials: Credentials) { renewal.follow(credentials) }

  /// The credentials are about to end: continues with others on another stream.
  private func replace(with credentials: Credentials) {
    attempts.replace(with: credentials) {
      owner?.letGo()
      owner?.reconnect(because: "the credentials are renewed")
    }
  }

  /// Takes so much silence for a lost connection. An open stream that is not read seems silent whatever comes.
  func listen(_ time: Duration, _ what: String) {
    if attempts.phase == .open, owner?.isHeld == true { return silence.stop() }
    silence.restart(time) { [weak self] in self?.lose(GraphQLClientError(.connectionLost, what)) }
  }

  /// Nothing is read from now on.
  func stopListening() { silence.stop() }

  /// Whether a response that has begun is the stream of this attempt, which is open then.
  func begin() -> Bool {
    silence.stop()
    guard attempts.opened(attempts.generation) == .use else { return false }
    attempts.acknowledged()
    events.tell(hasConnected ? .reconnected(payload: nil) : .connected(payload: nil))
    hasConnected = true
    return true
  }

  /// The consumers have room again.
  func hasRoom() {
    guard waitsForRoom else { return }
    waitsForRoom = false
    attempts.need()
  }

  /// Ends the watches of the stream.
  func stop() {
    waitsForRoom = false
    silence.stop()
    renewal.stop()
  }

  /// The stream is lost, or did not come about.
  ///
  /// - Parameter isAllowed: Whether another attempt is made; nil for what the application has set.
  func lose(_ error: GraphQLClientError, retryAfter: Duration? = nil, isAllowed: Bool? = nil) {
    guard let owner else { return }
    events.tell(.disconnected(code: attempts.phase == .open ? 1006 : nil, reason: error.message))
    guard owner.isNeeded, isAllowed ?? resumes else { return owner.fail(error) }
    owner.letGo()
    if owner.isHeld {
      _ = attempts.release()
      waitsForRoom = true
      return owner.reconnect(because: error.message)
    }
    attempts.closed(.passing(retryAfter: retryAfter), isNeeded: true) { action in
      if case .fail = action {
        owner.fail(GraphQLClientError(.connectFailed, error.message, underlying: error))
      } else {
        owner.reconnect(because: error.message)
      }
    }
  }

  /// The stream's response has ended before its subscriptions. If more came than the network holds while nothing was
  /// read, another stream continues where that leaves no gap.
  func lose(_ error: HTTPExchangeError, _ code: GraphQLClientError.Code) {
    let isAllowed = error.code == .overflow && owner?.isReplaceable == true ? true : nil
    lose(GraphQLClientError(code, error.message, underlying: error), isAllowed: isAllowed)
  }

  /// The server refuses the credentials: others are asked for once, where there is a provider.
  func refuse(_ status: Int, _ message: String, _ errors: [JSONValue]) {
    owner?.letGo()
    let failure = attempts.canRefresh ? RetryMachine.Failure.credentialsRefused(code: status) : .final
    attempts.closed(failure, isNeeded: true) { action in
      guard case .fail = action else { return }
      owner?.fail(GraphQLClientError(.unauthorized, message, status: status, errors: errors))
    }
  }
}
