package import MartletRuntime
import MartletVocabulary

/// Credentials of a response that does not end, or of the tree's socket: others are asked for before they end, while
/// the connection continues. Confined to its loop.
package final class StreamRenewal {
  /// Whether the stream can be replaced by another one without a loss that the application did not allow, or takes
  /// other credentials while it is open.
  package var isReplaceable: (() -> Bool)?
  /// The stream is to be replaced by one with these credentials, or they are shown on it.
  package var onRenewed: ((Credentials) -> Void)?

  private let attempts: ConnectionAttempts
  private let loop: any Loop
  private let lead: Duration
  private var question: CredentialQuestion?
  private var timer: LoopTimer?
  /// When the credentials in use end.
  private var end: Instant?
  private var lastRenewal: Instant?

  package init(_ attempts: ConnectionAttempts, _ configuration: ConnectionConfiguration, on loop: any Loop) {
    self.attempts = attempts
    self.loop = loop
    lead = configuration.credentialLead
  }

  package func stop() {
    question?.cancel()
    question = nil
    timer?.cancel()
    timer = nil
  }

  /// Credentials are in use from now on.
  package func follow(_ credentials: Credentials) {
    end = credentials.expiresIn.map { loop.now + $0 }
    ask(before: credentials)
  }

  /// Has the provider asked before these credentials end.
  private func ask(before credentials: Credentials) {
    stop()
    guard attempts.canRefresh, let time = credentials.renewalTime(lead: lead) else { return }
    var moment = loop.now + time
    if let lastRenewal { moment = max(moment, lastRenewal + Credentials.shortestRenewal) }
    timer = loop.schedule(at: moment) { [weak self] in self?.renew() }
  }

  private func renew() {
    guard attempts.phase == .open, isReplaceable?() ?? false else { return }
    lastRenewal = loop.now
    question = attempts.credentials(.expiring) { [weak self] answer in
      guard let self else { return }
      question = nil
      // Without others the stream continues until the server ends it, and the next attempt asks again.
      if case .success(let credentials) = answer { received(credentials) }
    }
  }

  private func received(_ credentials: Credentials) {
    // Credentials that end no later are not worth another connection: the provider is asked again.
    if let end, let time = credentials.expiresIn, time <= .zero || loop.now + time <= end {
      return ask(before: credentials)
    }
    if attempts.phase == .open, isReplaceable?() ?? false { onRenewed?(credentials) }
  }
}
