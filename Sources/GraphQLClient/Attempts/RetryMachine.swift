package import MartletVocabulary

/// Decides what follows a failed attempt or a lost connection: another one after a pause, new credentials first, or the
/// end. Performs nothing and knows nothing of what the connection carries.
package struct RetryMachine: Sendable {
  /// How an attempt or a connection ended, as far as the next one is concerned.
  package enum Failure: Equatable, Sendable {
    /// Another attempt may succeed. `retryAfter` is the pause the server asked for.
    case passing(retryAfter: Duration? = nil)
    /// The server refused the credentials, with this close code or HTTP status.
    case credentialsRefused(code: Int)
    /// Another attempt would end in the same way.
    case final
  }

  /// Why there are no more attempts.
  package enum Surrender: Equatable, Sendable {
    case finalFailure
    /// Credentials that were asked for after a refusal were refused too.
    case credentialsRefused
    /// The policy's number of attempts failed in a row.
    case attemptsUsedUp
  }

  package enum FailureAction: Equatable, Sendable {
    case retry(at: Instant)
    /// Ask for new credentials and try again at once.
    case refresh(code: Int)
    case giveUp(Surrender)
  }

  package let policy: ReconnectPolicy
  /// Failures in a row. Progress, or a connection that stood for the policy's `stableAfter`, ends the row.
  package private(set) var failures = 0
  private var acknowledgedAt: Instant?
  private var hasRefreshed = false
  /// The shortest pause the server asks for between its connections (`retry:` of server-sent events).
  private var serverPause: Duration?

  package init(_ policy: ReconnectPolicy) {
    self.policy = policy
  }

  /// The server confirmed that the connection can be used. That alone is not a success: a server that confirms and
  /// closes at once must be dialled with growing pauses.
  package mutating func acknowledged(at now: Instant) {
    acknowledgedAt = now
  }

  /// The server accepted the credentials, so a later refusal is a new one.
  package mutating func credentialsAccepted() {
    hasRefreshed = false
  }

  /// An event arrived: a network that drops every few seconds in between does not use up the attempts.
  package mutating func progressed() {
    hasRefreshed = false
    failures = 0
  }

  /// The server names the shortest pause between its connections, until it names another.
  package mutating func serverPauses(for pause: Duration) {
    serverPause = pause
  }

  /// An attempt failed, or a connection was lost.
  package mutating func failed(
    _ failure: Failure, at now: Instant, using random: inout some RandomNumberGenerator
  ) -> FailureAction {
    if let acknowledgedAt, now >= acknowledgedAt + policy.stableAfter { failures = 0 }
    acknowledgedAt = nil
    switch failure {
    case .passing(let retryAfter):
      failures += 1
      if let most = policy.attempts, failures > most {
        reset()
        return .giveUp(.attemptsUsedUp)
      }
      let own = policy.delay(afterFailures: failures, using: &random)
      let asked = min(max(retryAfter ?? .zero, serverPause ?? .zero), policy.longestServerPause)
      return .retry(at: now + max(own, asked))
    case .credentialsRefused(let code):
      if hasRefreshed {
        reset()
        return .giveUp(.credentialsRefused)
      }
      hasRefreshed = true
      return .refresh(code: code)
    case .final:
      reset()
      return .giveUp(.finalFailure)
    }
  }

  /// The connection is no longer needed: the next one starts without a history of failures.
  package mutating func reset() {
    failures = 0
    acknowledgedAt = nil
    hasRefreshed = false
  }
}
