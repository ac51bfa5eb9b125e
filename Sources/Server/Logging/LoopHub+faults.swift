internal import MartletWireProtocols

extension LoopHub {
  /// A peer broke a rule or a limit of its protocol: counts it, and says so in the log unless it has been said of this
  /// peer. Answering is the caller's.
  func noteViolation(
    _ reason: String, _ metadata: [(key: Log.Key, value: String)], isLogged: Bool
  ) {
    counters.add(.protocolErrors)
    guard !isLogged else { return }
    // Reasons may quote a peer's words, which may be long.
    let short = String(decoding: truncatedUTF8(reason, to: 200), as: UTF8.self)
    node.log.write(.warning, "A client broke a rule of its protocol.", metadata + [(.reason, short)])
  }

  /// Credentials were not good, for a request, a connection or a subscription: as above.
  func noteRefusal(_ message: StaticString, isLogged: Bool) {
    counters.add(.credentialsRefused)
    if !isLogged { node.log.write(.warning, message) }
  }
}

/// What has been said of one session in the log; each is said once.
struct SessionNotes: OptionSet {
  let rawValue: UInt8
  static let violation = SessionNotes(rawValue: 1)
  static let refusal = SessionNotes(rawValue: 2)
}

extension GraphQLSession {
  /// The client broke a rule or a limit.
  func noteViolation(_ reason: String) {
    hub.noteViolation(reason, [(.connection, "\(serial)")], isLogged: !notes.insert(.violation).inserted)
  }

  /// The client, or one of its subscriptions, was refused for its credentials.
  func noteRefusal(_ message: StaticString) {
    hub.noteRefusal(message, isLogged: !notes.insert(.refusal).inserted)
  }
}
