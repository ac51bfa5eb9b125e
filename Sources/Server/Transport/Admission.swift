internal import MartletAccess
internal import MartletJSON
internal import MartletRuntime
internal import MartletVocabulary
internal import MartletWire

/// A caller that was admitted.
struct Caller: Sendable {
  /// The credentials that admitted it; nil for a page that needs none, and on a WebSocket that has shown none yet.
  var grant: AccessControl.Grant?
  var identity: Identity
  /// When its rights end, by the loop's clock.
  var deadline: Instant?

  init(_ grant: AccessControl.Grant?) {
    self.grant = grant
    identity =
      switch grant {
      case .development: .system
      case .key(let key): key.identity
      case .program, nil: .guest
      }
  }

  /// Whether two requests come from one caller, whatever their credentials' age.
  func isSame(as other: Caller) -> Bool {
    identity.provider == other.identity.provider
      && identity.subject.map { Array($0.utf8) } == other.identity.subject.map { Array($0.utf8) }
  }
}

/// The one place that decides whether a caller is served: for every endpoint, and for every kind of connection.
///
/// Confined to its loop.
final class Admission {
  /// What a request's head leads to.
  enum Decision {
    case admitted(Caller)
    case refused(HTTPAnswer)
    /// The program decides.
    case asks(ConnectionRequest, Caller)
  }

  /// What the program decided.
  enum Outcome {
    /// - Parameter payload: for the acknowledgement, where the protocol has room for one.
    case admitted(Caller, payload: JSONObject?)
    case refused(String)
  }

  let access: AccessControl
  private let question: ConnectionQuestion?
  private let loop: any Loop
  private let spawner: any Spawner
  private let timeout: Duration
  private let calendar: Calendar

  /// - Parameters:
  ///   - question: asked about callers whose credentials were accepted; nil accepts them.
  ///   - timeout: how long an answer may take.
  init(
    _ access: AccessControl, _ question: ConnectionQuestion?, on loop: any Loop, spawner: any Spawner,
    timeout: Duration, calendar: Calendar
  ) {
    self.access = access
    self.question = question
    self.loop = loop
    self.spawner = spawner
    self.timeout = timeout
    self.calendar = calendar
  }

  var origins: OriginCheck { access.origins }
  /// Whether the program decides about callers, besides or in place of keys.
  var asksProgram: Bool { question != nil }

  /// What a request shows of its caller, under the configured names, for a program that is asked.
  func credentials(of head: HTTPRequestHead) -> JSONObject {
    access.credentials { head.headers.value(named: $0) }
  }

  // MARK: Judging

  /// Judges a request by its head.
  func judge(_ head: HTTPRequestHead, _ rule: AdmissionRule, peerIsLoopback: Bool) -> Decision {
    if case .open = rule { return .admitted(Caller(nil)) }
    let refusal = access.origins.refusal(
      host: head.headers["Host"], origin: head.headers["Origin"], peerIsLoopback: peerIsLoopback)
    if let refusal { return .refused(.error(403, refusal.rawValue, "FORBIDDEN", note: .violation)) }
    let grant = access.grant(apiKey: head.headers["x-api-key"], authorization: head.headers["Authorization"])
    let caller = limited(Caller(grant))
    switch rule {
    case .open, .sameOrigin: return .admitted(caller)
    case .keyed, .identified: break
    }
    guard let grant else { return .refused(Self.unknownCredentials) }
    guard question != nil else { return .admitted(caller) }
    switch rule {
    case .identified(let dialect):
      return .asks(ConnectionRequest(payload: credentials(of: head), dialect: dialect), caller)
    case .keyed where grant == .program:
      return .asks(ConnectionRequest(payload: credentials(of: head), dialect: .http), caller)
    case .keyed, .open, .sameOrigin: return .admitted(caller)
    }
  }

  private static var unknownCredentials: HTTPAnswer {
    .error(
      401, "An API key is needed: x-api-key or Authorization: Bearer.", "UNAUTHENTICATED",
      note: .credentials("A request was refused: its credentials are not known."))
  }

  /// The caller that shows its credentials in a message's payload; nil when they are not accepted.
  func caller(payload: JSONObject?) -> Caller? {
    access.grant(payload: payload).map { limited(Caller($0)) }
  }

  /// The caller with the end of its identity as its deadline.
  private func limited(_ caller: Caller) -> Caller {
    guard let expires = caller.identity.expires else { return caller }
    var caller = caller
    caller.deadline = loop.now + (expires - calendar.sinceEpoch())
    return caller
  }

  // MARK: Asking the program

  /// Carries an answer to the loop.
  private final class Listener {
    let completion: (ConnectionAnswer) -> Void
    init(_ completion: @escaping (ConnectionAnswer) -> Void) { self.completion = completion }
  }

  /// Asks the program whether a caller is served.
  ///
  /// - Parameter completion: called on the loop, once and after this has returned: with the answer, or with a refusal
  ///   after `operationTimeout`. It may still be called after the question was let go.
  /// - Returns: the question; nil when there is no program to ask, and `completion` is not called.
  func ask(
    _ request: ConnectionRequest, _ caller: Caller, _ completion: @escaping (Outcome) -> Void
  ) -> PendingQuestion? {
    guard let question else { return nil }
    var isAnswered = false
    let answer = { [unowned self] (answer: ConnectionAnswer) in
      guard !isAnswered else { return }
      isAnswered = true
      completion(self.outcome(of: answer, caller))
    }
    let bound = LoopBound(Listener(answer), on: loop)
    let task = spawner.spawn {
      var answer = ConnectionAnswer.refuse()
      if let given = try? await question(request) { answer = given }
      let given = answer
      bound.loop.execute { bound.value.completion(given) }
    }
    let timer = loop.schedule(at: loop.now + timeout) {
      answer(.refuse("No answer whether this client may connect"))
    }
    return PendingQuestion(task, timer)
  }

  private func outcome(of answer: ConnectionAnswer, _ caller: Caller) -> Outcome {
    switch answer {
    case .refuse(let reason): return .refused(reason)
    case .accept(let identity, let payload, let duration):
      var caller = caller
      if let identity { caller.identity = identity }
      let untilExpiry = caller.identity.expires.map { $0 - calendar.sinceEpoch() }
      guard let left = [duration, untilExpiry].compactMap({ $0 }).min() else {
        return .admitted(caller, payload: payload)
      }
      guard left > .zero else { return .refused("The credentials have expired.") }
      caller.deadline = loop.now + left
      return .admitted(caller, payload: payload)
    }
  }
}
