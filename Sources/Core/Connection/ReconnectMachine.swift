package import MartletJSON
package import MartletVocabulary
package import MartletWireProtocols

/// Decides what follows the end of a socket or a failed attempt. Performs nothing.
package struct ReconnectMachine: Sendable {
  /// How an attempt or a session ended.
  package enum Ending: Sendable, Equatable {
    case closed(WebSocketCloseCode, String)
    /// No socket came about; the HTTP status when the server gave one.
    case failed(String, status: Int?)
    /// The server refused the connection by a message of its dialect, or an operation's credentials.
    case refused(ConnectionRetry, String, errors: [JSONValue])
    /// The server speaks another protocol.
    case mismatched(String)

    /// The HTTP status of an attempt that was answered by one.
    var status: Int? {
      switch self {
      case .failed(_, let status): status
      case .closed, .refused, .mismatched: nil
      }
    }

    /// Why, in words.
    var text: String {
      switch self {
      case .closed(let code, let reason): reason.isEmpty ? "closed with code \(code.rawValue)" : reason
      case .failed(let text, status: _), .refused(_, let text, errors: _), .mismatched(let text): text
      }
    }
  }

  package enum Decision: Equatable, Sendable {
    case retry(at: Instant)
    /// Dial again at once, with credentials asked for after this refusal.
    case refresh(code: Int)
    case giveUp(GraphQLClientError.Code, String, closeCode: Int?, errors: [JSONValue] = [])
    /// Nobody needs the connection.
    case rest
  }

  package let policy: ReconnectPolicy
  /// What close codes mean.
  private let dialect: SubscriptionDialect
  /// Failures in a row; a connection that brought an event or lived for the policy's `stableAfter` ends the row.
  package private(set) var failures = 0
  private var acknowledgedAt: Instant?
  private var hasRefreshed = false

  package init(_ policy: ReconnectPolicy, dialect: SubscriptionDialect = .transportWS) {
    self.policy = policy
    self.dialect = dialect
  }

  /// The server acknowledged.
  package mutating func acknowledged(at now: Instant) {
    acknowledgedAt = now
  }

  /// A subscription was live or an event arrived: the credentials are good, so that a later refusal is a new one, and
  /// there was progress, so that a network that drops every few seconds does not use up the attempts.
  package mutating func proved() {
    hasRefreshed = false
    failures = 0
  }

  /// A socket or an attempt has ended.
  package mutating func ended(
    _ ending: Ending, isNeeded: Bool, at now: Instant, using random: inout some RandomNumberGenerator
  ) -> Decision {
    // A server that acknowledges and then closes at once must not be dialled for ever without a pause.
    if let acknowledgedAt, now >= acknowledgedAt + policy.stableAfter { failures = 0 }
    acknowledgedAt = nil
    guard isNeeded else {
      failures = 0
      return .rest
    }
    switch ending {
    case .closed(let code, let reason):
      let number = Int(code.rawValue)
      let text = reason.isEmpty ? "the connection was closed" : reason
      // A client that never subscribes before the acknowledgement hears 4401 only as "unauthorised".
      if code.rawValue == 4401 { return refused(number, text, closeCode: number) }
      switch dialect.retry(after: code) {
      case .withNewCredentials: return refused(number, text, closeCode: number)
      case .never where code.rawValue == 4406:
        failures = 0
        return .giveUp(.protocolMismatch, mismatch(with: text), closeCode: number)
      case .never:
        failures = 0
        return .giveUp(number == 4004 ? .protocolViolation : .connectionClosed, text, closeCode: number)
      case .afterBackoff, .ifOperationsAreOpen: return pause(text, number, now, &random)
      }
    case .failed(let text, let status):
      if let status, status == 401 || status == 403 { return refused(status, text, closeCode: nil) }
      return pause(text, nil, now, &random)
    case .mismatched(let answered):
      failures = 0
      return .giveUp(.protocolMismatch, mismatch(with: answered), closeCode: nil)
    case .refused(let retry, let text, let errors):
      switch retry {
      case .withNewCredentials: return refused(Self.refusalByMessage, text, closeCode: nil, errors)
      case .never:
        failures = 0
        return .giveUp(.connectionClosed, text, closeCode: nil, errors: errors)
      case .afterBackoff, .ifOperationsAreOpen: return pause(text, nil, now, &random)
      }
    }
  }

  /// What the credential provider is told when a message refused, which has no code: that of "forbidden".
  package static let refusalByMessage = 4403

  private func mismatch(with answer: String) -> String { "\(dialect.name) was offered; \(answer)" }

  private mutating func refused(
    _ code: Int, _ text: String, closeCode: Int?, _ errors: [JSONValue] = []
  ) -> Decision {
    if hasRefreshed {
      hasRefreshed = false
      failures = 0
      return .giveUp(.unauthorized, text, closeCode: closeCode, errors: errors)
    }
    hasRefreshed = true
    return .refresh(code: code)
  }

  private mutating func pause(
    _ text: String, _ code: Int?, _ now: Instant, _ random: inout some RandomNumberGenerator
  ) -> Decision {
    failures += 1
    if let most = policy.attempts, failures > most {
      failures = 0
      return .giveUp(.connectFailed, text, closeCode: code)
    }
    return .retry(at: now + policy.delay(afterFailures: failures, using: &random))
  }
}
