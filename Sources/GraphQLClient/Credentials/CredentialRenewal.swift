import MartletGraphQLClientWire
import MartletJSON
import MartletRuntime
import MartletVocabulary

/// Credentials of one socket's connection that end while it is open: others are asked for, and shown on the connection
/// where its server takes them there. Elsewhere the connection is replaced, and subscriptions resume.
///
/// Confined to its loop.
final class CredentialRenewal {
  private unowned let driver: SocketDriver
  private var question: CredentialQuestion?
  private var timer: LoopTimer?
  private var lastRenewal: Instant?

  init(_ driver: SocketDriver) {
    self.driver = driver
  }

  func stop() {
    question?.cancel()
    question = nil
    timer?.cancel()
    timer = nil
  }

  /// Credentials are in use from now on.
  func follow(_ credentials: Credentials) {
    stop()
    let lead = driver.configuration.credentialLead
    guard driver.attempts.canRefresh, let time = credentials.renewalTime(lead: lead) else { return }
    var moment = driver.loop.now + time
    if let lastRenewal { moment = max(moment, lastRenewal + Credentials.shortestRenewal) }
    timer = driver.loop.schedule(at: moment) { [weak self] in self?.renew() }
  }

  /// The server has pinged, perhaps to warn that the credentials end.
  func pinged(_ payload: JSONObject?) {
    if payload?["martlet"]?["credentialsEndInMs"] != nil { renew() }
  }

  /// The server has answered a ping, perhaps to refuse the credentials in it: the connection is replaced before those
  /// that it has end.
  func ponged(_ payload: JSONObject?) {
    if payload?["martlet"]?["credentials"] == .bool(false) {
      driver.replace(because: "the server did not take renewed credentials")
    }
  }

  /// The application has changed what it connects with: shown at once where no provider is asked.
  func changed() {
    let payload = driver.configuration.connectingPayload
    guard driver.attempts.phase == .open, !driver.attempts.canRefresh, !payload.isEmpty else { return }
    driver.act { _ = driver.session.renew(with: payload, actions: &$0) }
  }

  private func renew() {
    guard driver.attempts.phase == .open, driver.attempts.canRefresh, question == nil else { return }
    lastRenewal = driver.loop.now
    question = driver.attempts.credentials(.expiring) { [weak self] answer in
      guard let self else { return }
      question = nil
      // Without others the server ends the connection, and the next attempt asks again.
      if case .success(let credentials) = answer { show(credentials) }
    }
  }

  private func show(_ credentials: Credentials) {
    guard driver.attempts.phase == .open else { return }
    var isShown = false
    if credentials.aws == nil {
      let payload = members(of: credentials)
      driver.act { isShown = driver.session.renew(with: payload, actions: &$0) }
    }
    if isShown { follow(credentials) } else { driver.replace(because: "the credentials were about to end") }
  }

  /// What is shown in a message: as in `connection_init`, and what the handshake had in header fields.
  private func members(of credentials: Credentials) -> JSONObject {
    var members = driver.configuration.connectingPayload
    for (name, value) in credentials.headers where members[name] == nil { members[name] = .string(value) }
    for (name, value) in credentials.payload { members[name] = value }
    return members
  }
}

extension Credentials {
  /// The least time between two renewals of one connection: a provider whose answers are about to end each time must
  /// not be asked without a pause.
  static let shortestRenewal = Duration.seconds(1)

  /// How long until others are asked for; nil for credentials without a known end.
  func renewalTime(lead: Duration) -> Duration? {
    expiresIn.map { max($0 - lead, $0 / 2) }
  }
}
