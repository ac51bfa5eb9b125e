package import MartletVocabulary

/// The lifecycle of one connection that is made again when it is lost: credentials, attempt, connection, pause.
///
/// Decides and performs nothing; knows nothing of sockets, HTTP or GraphQL. Every attempt has a generation of its own:
/// what an earlier one still reports is ignored.
package struct ConnectionMachine: Sendable {
  package enum Phase: Equatable, Sendable {
    /// Not needed. Next: asking, paused, shutDown.
    case idle
    /// The credential provider was asked. Next: opening, waiting, idle, paused, shutDown.
    case asking
    /// Next: open, asking, waiting, idle, paused, shutDown.
    case opening
    /// Next: asking, waiting, idle, paused, shutDown.
    case open
    /// A pause after a failure. Next: asking, idle, paused, shutDown.
    case waiting
    /// The application asked for a pause. Next: asking, idle, shutDown.
    case paused
    /// Final.
    case shutDown
  }

  /// What the credential provider learns about an attempt.
  package enum Purpose: Sendable {
    /// A connection that several operations share: each attempt has its number.
    case connection
    /// One long response: a request at first, then attempts with numbers.
    case stream
    /// One request: every attempt is a request.
    case request
  }

  package private(set) var phase = Phase.idle
  /// Names the present attempt and what comes of it.
  package private(set) var generation = 0
  private let purpose: Purpose
  private var retry: RetryMachine

  package init(_ purpose: Purpose, _ policy: ReconnectPolicy) {
    self.purpose = purpose
    retry = RetryMachine(policy)
  }

  /// Failures in a row.
  package var failures: Int { retry.failures }

  /// Whether the attempt or connection of this generation is the present one.
  package func isCurrent(_ generation: Int) -> Bool { generation == self.generation }

  // MARK: Need

  package enum NeedAction: Equatable, Sendable {
    /// Ask for credentials, then report `answered` or `closed`.
    case ask(CredentialReason)
    /// The connection is on its way, or paused.
    case wait
    /// It is open.
    case proceed
    case refuse
  }

  /// Something needs the connection.
  package mutating func need() -> NeedAction {
    switch phase {
    case .idle: .ask(begin(firstReason))
    case .asking, .opening, .waiting, .paused: .wait
    case .open: .proceed
    case .shutDown: .refuse
    }
  }

  package enum ReleaseAction: Equatable, Sendable {
    /// Let go of question, attempt, connection and timers.
    case drop
    case none
  }

  /// No operation needs the connection.
  package mutating func release() -> ReleaseAction {
    switch phase {
    case .asking, .opening, .open, .waiting:
      become(.idle)
      retry.reset()
      return .drop
    case .idle, .paused, .shutDown: return .none
    }
  }

  // MARK: An attempt

  package enum AnswerAction: Equatable, Sendable { case open, ignore }

  /// The provider returned credentials. When it failed, the attempt is `closed`.
  package mutating func answered(_ generation: Int) -> AnswerAction {
    guard isCurrent(generation), phase == .asking else { return .ignore }
    phase = .opening
    return .open
  }

  package enum OpenAction: Equatable, Sendable { case use, ignore }

  /// The connection is open.
  package mutating func opened(_ generation: Int) -> OpenAction {
    guard isCurrent(generation), phase == .opening else { return .ignore }
    phase = .open
    return .use
  }

  /// The server confirmed on the open connection that it can be used; `stableAfter` counts from here.
  package mutating func acknowledged(at now: Instant) {
    if phase == .open { retry.acknowledged(at: now) }
  }

  /// The server accepted the credentials.
  package mutating func credentialsAccepted() { retry.credentialsAccepted() }

  /// The server sent an event.
  package mutating func progressed() { retry.progressed() }

  /// The server names the shortest pause between connections.
  package mutating func serverPauses(for pause: Duration) { retry.serverPauses(for: pause) }

  // MARK: Its end

  package enum CloseAction: Equatable, Sendable {
    /// Ask for credentials at once.
    case ask(CredentialReason)
    /// Report `reachedDeadline` at this time.
    case wait(until: Instant)
    /// Nothing needs the connection.
    case rest
    /// There are no more attempts: what needs the connection fails. The machine is idle.
    case fail(RetryMachine.Surrender)
    case ignore
  }

  /// The attempt failed, or the connection was lost.
  package mutating func closed(
    _ failure: RetryMachine.Failure, _ generation: Int, isNeeded: Bool, at now: Instant,
    using random: inout some RandomNumberGenerator
  ) -> CloseAction {
    guard isCurrent(generation) else { return .ignore }
    switch phase {
    case .idle, .waiting, .paused, .shutDown: return .ignore
    case .asking, .opening, .open: break
    }
    guard isNeeded else {
      become(.idle)
      retry.reset()
      return .rest
    }
    switch retry.failed(failure, at: now, using: &random) {
    case .retry(let moment):
      become(.waiting)
      return .wait(until: moment)
    case .refresh(let code): return .ask(begin(.refused(code: code)))
    case .giveUp(let why):
      become(.idle)
      return .fail(why)
    }
  }

  package enum DeadlineAction: Equatable, Sendable {
    case ask(CredentialReason)
    case none
  }

  /// The pause of this generation is over.
  package mutating func reachedDeadline(_ generation: Int) -> DeadlineAction {
    guard isCurrent(generation), phase == .waiting else { return .none }
    return .ask(begin(nextReason))
  }

  // MARK: The application's wishes

  package enum ReplaceAction: Equatable, Sendable {
    /// Let go of the connection, then ask.
    case dropAndAsk(CredentialReason)
    case none
  }

  /// The connection, or the attempt, is to be replaced by a new one at once; `refused` when its credentials were.
  package mutating func replace(refused code: Int? = nil) -> ReplaceAction {
    switch phase {
    case .opening, .open: return .dropAndAsk(begin(code.map { .refused(code: $0) } ?? firstReason))
    case .idle, .asking, .waiting, .paused, .shutDown: return .none
    }
  }

  /// The application pauses the connection.
  package mutating func pause() -> ReleaseAction {
    switch phase {
    case .paused, .shutDown: return .none
    case .idle, .asking, .opening, .open, .waiting:
      become(.paused)
      return .drop
    }
  }

  package enum ResumeAction: Equatable, Sendable {
    case ask(CredentialReason)
    case rest
    case none
  }

  /// The application ends the pause.
  package mutating func resume(isNeeded: Bool) -> ResumeAction {
    guard phase == .paused else { return .none }
    phase = .idle
    guard isNeeded else { return .rest }
    return .ask(begin(firstReason))
  }

  /// Another attempt is likely to succeed, because the network has changed: the pause before it ends now.
  package mutating func hasten() -> ResumeAction {
    guard phase == .waiting else { return .none }
    return .ask(begin(nextReason))
  }

  /// Nothing follows.
  package mutating func shutDown() -> ReleaseAction {
    if phase == .shutDown { return .none }
    become(.shutDown)
    return .drop
  }

  // MARK: Attempts

  private mutating func become(_ phase: Phase) {
    generation += 1
    self.phase = phase
  }

  private mutating func begin(_ reason: CredentialReason) -> CredentialReason {
    become(.asking)
    return reason
  }

  private var firstReason: CredentialReason {
    switch purpose {
    case .connection: .connecting(attempt: 1)
    case .stream, .request: .request
    }
  }

  private var nextReason: CredentialReason {
    switch purpose {
    case .connection, .stream: .connecting(attempt: failures + 1)
    case .request: .request
    }
  }
}
