/// What has been said of one session in the log; each is said once.
struct SessionNotes: OptionSet {
  let rawValue: UInt8
  static let violation = SessionNotes(rawValue: 1)
  static let refusal = SessionNotes(rawValue: 2)
}

extension GraphQLSession {
  /// The client broke a rule or a limit.
  func noteViolation(_ reason: String) {
    service.transport.noteViolation(reason, [(.connection, "\(serial)")], isLogged: !notes.insert(.violation).inserted)
  }

  /// The client, or one of its subscriptions, was refused for its credentials.
  func noteRefusal(_ message: StaticString, _ reason: String? = nil) {
    service.transport.noteRefusal(message, reason: reason, isLogged: !notes.insert(.refusal).inserted, over: use.peer)
  }
}
