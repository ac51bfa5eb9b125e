internal import MartletRuntime
internal import MartletVocabulary

/// Runs a `ConnectionMachine`: calls the credential provider, keeps the pauses, and says when an attempt is due. The
/// one component for credentials and retries: of sockets, event streams and requests. Confined to its loop.
package final class ConnectionAttempts {
  /// An attempt of this generation is due, with credentials or with what the provider threw instead. Set once, before
  /// `need`; it holds its owner weakly.
  package var onDue: ((Int, Result<Credentials, any Error>) -> Void)?

  private var machine: ConnectionMachine
  private let environment: ClientEnvironment
  private let provider: CredentialProvider?
  private let credentialTimeout: Duration
  private var random: any RandomNumberGenerator & Sendable
  private var question: CredentialQuestion?
  private var pause: LoopTimer?
  private var loop: any Loop { environment.loop }

  package init(
    _ purpose: ConnectionMachine.Purpose, _ configuration: ConnectionConfiguration, _ environment: ClientEnvironment
  ) {
    machine = ConnectionMachine(purpose, configuration.reconnect)
    provider = configuration.credentials
    credentialTimeout = configuration.credentialTimeout
    self.environment = environment
    random = environment.chance.fork()
  }

  package var phase: ConnectionMachine.Phase { machine.phase }
  package var generation: Int { machine.generation }
  /// Failures in a row.
  package var failures: Int { machine.failures }
  /// Whether a refusal can be followed by other credentials.
  package var canRefresh: Bool { provider != nil }

  package func isCurrent(_ generation: Int) -> Bool { machine.isCurrent(generation) }

  // MARK: Events; see `ConnectionMachine`

  @discardableResult
  package func need() -> ConnectionMachine.NeedAction {
    let action = machine.need()
    if case .ask(let reason) = action { ask(reason) }
    return action
  }

  package func opened(_ generation: Int) -> ConnectionMachine.OpenAction {
    machine.opened(generation)
  }

  package func acknowledged() { machine.acknowledged(at: loop.now) }
  package func credentialsAccepted() { machine.credentialsAccepted() }
  package func progressed() { machine.progressed() }
  package func serverPauses(for pause: Duration) { machine.serverPauses(for: pause) }

  /// The present attempt or connection ended. `prepare` runs before the next attempt begins, which may be at once.
  package func closed(
    _ failure: RetryMachine.Failure, isNeeded: Bool, preparing prepare: (ConnectionMachine.CloseAction) -> Void
  ) {
    let action = machine.closed(failure, generation, isNeeded: isNeeded, at: loop.now, using: &random)
    if action == .ignore { return }
    stop()
    prepare(action)
    switch action {
    case .ask(let reason): ask(reason)
    case .wait(let moment):
      let generation = machine.generation
      pause = loop.schedule(at: moment) { [weak self] in self?.reachedDeadline(generation) }
    case .rest, .fail, .ignore: break
    }
  }

  private func reachedDeadline(_ generation: Int) {
    if case .ask(let reason) = machine.reachedDeadline(generation) { ask(reason) }
  }

  /// Replaces the present connection by one with credentials that are at hand. `drop` lets go of it.
  package func replace(with credentials: Credentials, dropping drop: () -> Void) {
    guard case .dropAndAsk = machine.replace() else { return }
    stop()
    drop()
    let generation = machine.generation
    if machine.answered(generation) == .open { onDue?(generation, .success(credentials)) }
  }

  /// Replaces the present attempt or connection. `drop` lets go of it.
  package func replace(refused code: Int? = nil, dropping drop: () -> Void) {
    guard case .dropAndAsk(let reason) = machine.replace(refused: code) else { return }
    stop()
    drop()
    ask(reason)
  }

  /// Each of these is true when the owner has to let go of what it holds.
  package func release() -> Bool { stopped(machine.release()) }
  package func pauses() -> Bool { stopped(machine.pause()) }
  package func shutDown() -> Bool { stopped(machine.shutDown()) }

  private func stopped(_ action: ConnectionMachine.ReleaseAction) -> Bool {
    guard action == .drop else { return false }
    stop()
    return true
  }

  package func resume(isNeeded: Bool) -> ConnectionMachine.ResumeAction {
    let action = machine.resume(isNeeded: isNeeded)
    if case .ask(let reason) = action { ask(reason) }
    return action
  }

  /// Ends the pause before the next attempt.
  package func hasten() {
    guard case .ask(let reason) = machine.hasten() else { return }
    stop()
    ask(reason)
  }

  // MARK: Credentials

  private func ask(_ reason: CredentialReason) {
    let generation = machine.generation
    question = credentials(reason) { [weak self] answer in
      guard let self, isCurrent(generation), phase == .asking else { return }
      question = nil
      switch answer {
      case .success: if machine.answered(generation) == .open { onDue?(generation, answer) }
      case .failure: onDue?(generation, answer)
      }
    }
  }

  /// Asks for credentials beside the attempts; nil when there is no provider, and `completion` has run with none.
  func credentials(
    _ reason: CredentialReason, _ completion: @escaping (Result<Credentials, any Error>) -> Void
  ) -> CredentialQuestion? {
    guard let provider else {
      completion(.success(Credentials()))
      return nil
    }
    return CredentialQuestion(provider, reason, timeout: credentialTimeout, environment, completion: completion)
  }

  private func stop() {
    question?.cancel()
    question = nil
    pause?.cancel()
    pause = nil
  }
}
