internal import MartletAccess
internal import MartletJSON
internal import MartletRuntime
internal import MartletVocabulary
internal import MartletWire

/// The one place that decides whether a caller is served: for every endpoint, and for every kind of connection.
///
/// Confined to its loop.
final class Admission {
  /// What a request's head leads to.
  enum Decision {
    case admitted(Caller)
    case refused(ImmediateAnswer)
    /// It is decided later.
    case asks(AdmissionQuestion)
  }

  /// What was decided later.
  enum Outcome {
    /// - Parameter payload: for the acknowledgement, where the protocol has room for one.
    case admitted(Caller, payload: JSONObject?)
    /// By the program.
    case refused(String)
    /// Its credentials are not accepted, for this reason.
    case unknown(String)
  }

  /// What a message shows of its caller.
  enum Shown {
    case nothing
    case caller(Caller)
    /// The reason is a stable name.
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
  func credentials(of head: HTTPRequestHead, parameter: String? = nil) -> JSONObject {
    access.credentials({ head.headers.value(named: $0) }, parameter: parameter)
  }

  // MARK: Judging

  /// Judges a request by its head.
  ///
  /// - Parameter parameters: the credentials in its query, which count where the access configuration says so.
  func judge(
    _ head: HTTPRequestHead, _ rule: AdmissionRule, parameters: (HTTPRequestHead) -> [String] = { _ in [] },
    peerIsLoopback: Bool
  ) -> Decision {
    if case .open = rule { return .admitted(Caller(nil)) }
    let refusal = access.origins.refusal(
      host: head.headers["Host"], origin: head.headers["Origin"],
      hasSeveralOrigins: head.headers.count(of: "Origin") > 1, peerIsLoopback: peerIsLoopback,
      isForwarded: Self.forwarding.contains { head.headers.contains($0) })
    if let refusal { return .refused(.error(403, refusal.rawValue, "FORBIDDEN", note: .violation)) }
    let shown = access.takesQueryCredentials ? parameters(head) : []
    let caller = caller(finding(of: head.headers, parameters: shown))
    switch rule {
    case .open, .sameOrigin: return .admitted(caller)
    case .keyed, .identified: break
    }
    if caller.isUnknown { return .refused(Self.unknownCredentials(caller.refusal)) }
    let asked = AdmissionQuestion(program: question == nil ? nil : request(head, rule, caller, shown.first), caller)
    return asked.isOpen ? .asks(asked) : .admitted(caller)
  }

  /// What a request's header fields and its query's credentials come to. One that occurs twice is refused: a proxy may
  /// have judged the other one.
  private func finding(of headers: HTTPHeaders, parameters: [String]) -> CredentialFinding {
    let (keys, authorizations) = (headers.count(of: "x-api-key"), headers.count(of: "Authorization"))
    if keys > 1 || authorizations > 1 { return .refused("repeated-field") }
    if let parameter = parameters.first {
      guard parameters.count + keys + authorizations == 1 else { return .refused("repeated-field") }
      return access.judge(parameter: parameter)
    }
    return access.judge(apiKey: headers["x-api-key"], authorization: headers["Authorization"])
  }

  /// What the program is asked about a request; nil where it is not asked.
  private func request(
    _ head: HTTPRequestHead, _ rule: AdmissionRule, _ caller: Caller, _ parameter: String?
  ) -> ConnectionRequest? {
    switch rule {
    case .identified(let transport):
      ConnectionRequest(payload: credentials(of: head, parameter: parameter), transport: transport)
    case .keyed where caller.grant == .program: ConnectionRequest(payload: credentials(of: head), transport: .http)
    case .keyed, .open, .sameOrigin: nil
    }
  }

  /// Header fields that proxies add (RFC 7239, RFC 9110 section 7.6.3, and what was there before them).
  private static let forwarding: [StaticString] = [
    "Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port",
    "X-Forwarded-Server", "X-Real-IP",
  ]

  /// The client does not learn the reason, which would help to guess.
  static func unknownCredentials(_ reason: String?) -> ImmediateAnswer {
    .error(
      401, "Credentials are needed: x-api-key, or Authorization: Bearer.", "UNAUTHENTICATED",
      note: .credentials("A request was refused: its credentials are not known.", reason: reason))
  }

  /// The caller that shows its credentials in a message's payload.
  ///
  /// - Parameter signed: What a signature among them has to be over; nil where signatures are not accepted.
  func shown(in payload: JSONObject?, signed: SignedRequest? = nil) -> Shown {
    var finding = access.judge(payload: payload)
    if case .signed(let claim) = finding {
      guard var signed else { return .refused("signature-unexpected") }
      signed.fields = (payload ?? JSONObject()).compactMap { name, value in value.string.map { (name: name, value: $0) }
      }
      finding = access.check(claim, over: signed)
    }
    switch finding {
    case .missing: return .nothing
    case .refused(let reason): return .refused(reason)
    case .granted, .unresolved, .signed: return .caller(caller(finding))
    }
  }

  /// The caller of a request that has arrived whole; nil with the reason where its signature is not over it.
  ///
  /// - Parameter handshake: What is signed in the request's place, where the endpoint names something.
  func proved(_ caller: Caller, by head: HTTPRequestHead, body: [UInt8], handshake: SignedRequest?) -> Result<
    Caller, SignatureRefusal
  > {
    guard let claim = caller.signature else { return .success(caller) }
    var signed = handshake ?? SignedRequest(method: head.method, target: head.target, body: body)
    signed.fields = head.headers.all
    switch access.check(claim, over: signed) {
    case .granted(let grant):
      var proved = caller
      proved.signature = nil
      proved.grant = grant
      // What the program has decided meanwhile stands.
      if caller.identity == .guest { proved.identity = Caller(grant).identity }
      return .success(proved)
    case .refused(let reason): return .failure(SignatureRefusal(reason: reason))
    case .unresolved, .signed, .missing: return .failure(SignatureRefusal(reason: "signature-malformed"))
    }
  }

  private func caller(_ finding: CredentialFinding) -> Caller {
    switch finding {
    case .granted(let grant): limited(Caller(grant))
    case .unresolved(let credential): Caller(unresolved: credential)
    case .signed(let claim): Caller(signed: claim)
    case .refused(let reason): Caller(refused: reason)
    case .missing: Caller(refused: "missing")
    }
  }

  /// The caller with the end of its identity as its deadline.
  private func limited(_ caller: Caller) -> Caller {
    guard let expires = caller.identity.expires else { return caller }
    var caller = caller
    caller.deadline = loop.now + (expires - calendar.sinceEpoch())
    return caller
  }

  // MARK: Deciding later

  /// Carries an answer to the loop.
  private final class Listener<Answer> {
    let completion: (Answer) -> Void
    init(_ completion: @escaping (Answer) -> Void) { self.completion = completion }
  }

  /// Finds out whether a caller is served: looks for the key of its token or asks the custom authorizer, then asks the
  /// program.
  ///
  /// - Parameter completion: called on the loop, once and after this has returned: with the outcome, or with a refusal
  ///   after `operationTimeout`. It may still be called after the question was let go.
  /// - Returns: the question; nil when there is nothing to find out, and `completion` is not called.
  func ask(_ asked: AdmissionQuestion, _ completion: @escaping (Outcome) -> Void) -> PendingQuestion? {
    guard asked.isOpen, asked.program == nil || question != nil else { return nil }
    var expire: () -> Void = {}
    let pending = PendingQuestion(loop.schedule(at: loop.now + timeout) { expire() })
    let finish = { [weak pending] (outcome: Outcome) in
      guard let pending else { return }
      pending.answer { completion(outcome) }
    }
    expire = { finish(.refused("No answer whether this client may connect")) }
    guard let unresolved = asked.caller.unresolved else {
      askProgram(asked.program, asked.caller, pending, finish)
      return pending
    }
    let bound = LoopBound(
      Listener<CredentialFinding> { [weak self, weak pending] finding in
        guard let self, let pending, !pending.isOver else { return }
        let caller = self.caller(finding)
        guard caller.grant != nil else { return finish(.unknown(caller.refusal ?? "unknown")) }
        self.askProgram(asked.program, caller, pending, finish)
      }, on: loop)
    access.resolve(unresolved) { finding in bound.loop.execute { bound.value.completion(finding) } }
    return pending
  }

  private func askProgram(
    _ request: ConnectionRequest?, _ caller: Caller, _ pending: PendingQuestion, _ finish: @escaping (Outcome) -> Void
  ) {
    guard let request, let question else { return finish(.admitted(caller, payload: nil)) }
    let bound = LoopBound(
      Listener<ConnectionAnswer> { [unowned self] in finish(self.outcome(of: $0, caller)) }, on: loop)
    pending.begin(
      spawner.spawn {
        var answer = ConnectionAnswer.refuse()
        if let given = try? await question(request) { answer = given }
        let given = answer
        bound.loop.execute { bound.value.completion(given) }
      })
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

/// Why a signature is not accepted, as a stable name.
struct SignatureRefusal: Error {
  let reason: String
}

/// What is not decided by a request's head alone: whether a token's key can be found, whether the custom authorizer
/// accepts the credentials, and whether the program accepts the caller.
struct AdmissionQuestion {
  /// What the program is asked; nil where it is not asked.
  let program: ConnectionRequest?
  let caller: Caller

  init(program: ConnectionRequest?, _ caller: Caller) {
    self.program = program
    self.caller = caller
  }

  var isOpen: Bool { program != nil || caller.unresolved != nil }
}
