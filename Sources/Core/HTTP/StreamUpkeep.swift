import MartletRuntime
import MartletVocabulary

/// What keeps a streamed response of a server, or brings the next one: credentials, a watch for silence, and pauses
/// between attempts. The same for a response of one subscription and for one that several share. Confined to its loop.
final class StreamUpkeep {
  private let configuration: ConnectionConfiguration
  private let environment: ClientEnvironment
  private var loop: any Loop { environment.loop }
  private var backoff: ReconnectMachine
  private var random: any RandomNumberGenerator & Sendable
  private var question: CredentialQuestion?
  private var silence: LoopTimer?
  private var pause: LoopTimer?
  /// Credentials were refused and asked for anew, and nothing has come since.
  private var hasRefreshed = false

  init(_ configuration: ConnectionConfiguration, _ environment: ClientEnvironment) {
    self.configuration = configuration
    self.environment = environment
    backoff = ReconnectMachine(configuration.reconnect)
    random = environment.chance.fork()
  }

  // MARK: Credentials

  /// Asks for credentials; where there is no provider there are none, at once.
  func ask(_ reason: CredentialReason, _ told: @escaping (Result<Credentials, GraphQLClientError>) -> Void) {
    guard let provider = configuration.credentials else { return told(.success(Credentials())) }
    question = CredentialQuestion(provider, reason, timeout: configuration.credentialTimeout, environment) {
      [weak self] answer in
      self?.question = nil
      told(answer.mapError { GraphQLClientError(.connectFailed, "no credentials", underlying: $0) })
    }
  }

  var isAsking: Bool { question != nil }

  /// Whether refused credentials may be asked for once more.
  func mayRefresh() -> Bool {
    guard !hasRefreshed, configuration.credentials != nil else { return false }
    hasRefreshed = true
    return true
  }

  // MARK: The response

  /// Takes so much silence for a lost connection.
  func listen(_ time: Duration, _ what: String, lost: @escaping (GraphQLClientError) -> Void) {
    silence?.cancel()
    silence = loop.schedule(at: loop.now + time) { lost(GraphQLClientError(.connectionLost, what)) }
  }

  /// A response has begun as it should.
  func began() {
    silence?.cancel()
    backoff.acknowledged(at: loop.now)
  }

  /// A server speaks whom the credentials were good enough for.
  func proved() {
    backoff.proved()
    hasRefreshed = false
  }

  // MARK: Attempts

  /// Makes another attempt after a pause; false when the policy allows none.
  func tryAgain(after cause: String, _ next: @escaping (CredentialReason) -> Void) -> Bool {
    switch backoff.ended(.failed(cause, status: nil), isNeeded: true, at: loop.now, using: &random) {
    case .retry(let moment):
      let attempt = backoff.failures + 1
      pause = loop.schedule(at: moment) { next(.connecting(attempt: attempt)) }
      return true
    case .giveUp, .refresh, .rest: return false
    }
  }

  /// Nothing is asked for, waited for or begun any more.
  func stop() {
    question?.cancel()
    question = nil
    silence?.cancel()
    pause?.cancel()
  }

  /// Nobody needs a response; whoever comes next starts afresh.
  func rest() {
    stop()
    hasRefreshed = false
  }
}
