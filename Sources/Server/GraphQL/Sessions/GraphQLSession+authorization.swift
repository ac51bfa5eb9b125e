internal import MartletGraphQLExecution
internal import MartletGraphQLWire
internal import MartletJSON
internal import MartletRuntime
internal import MartletTokens
internal import MartletVocabulary
internal import MartletWire

/// The caller of one operation, where it is not that of its connection. Confined to the session's loop.
final class OwnCaller {
  let caller: Caller
  private let expiry: LoopTimer?

  init(caller: Caller, expiry: LoopTimer?) {
    self.caller = caller
    self.expiry = expiry
  }

  deinit { expiry?.cancel() }
}

extension GraphQLSession {
  /// What an operation's own authorization comes to, which only AppSync's clients send. A connection that was admitted
  /// may leave it out.
  enum OwnAuthorization {
    case caller(Caller)
    /// The key of its token has to be looked for.
    case asks(AdmissionQuestion)
    /// The reason is a stable name.
    case refused(String)
  }

  /// Judges an operation's own authorization.
  func authorization(of request: RequestPayload) -> OwnAuthorization {
    guard machine.dialect?.authorizesEachOperation == true, let blob = request.extensions["authorization"] else {
      return caller.isUnknown ? .refused(caller.refusal ?? "missing") : .caller(caller)
    }
    switch service.transport.admission.shown(
      in: blob.object,
      signed: request.signedText.map { SignedRequest(target: service.node.path + "/graphql", body: $0) })
    {
    case .caller(let own):
      if own.unresolved != nil { return .asks(AdmissionQuestion(program: nil, own)) }
      // Where the program decides, it has decided about the connection.
      return .caller(own.grant == caller.grant ? caller : own)
    case .refused(let reason): return .refused(reason)
    case .nothing: return .refused("missing")
    }
  }

  /// An operation runs for a caller of its own; it ends when that caller's rights do.
  func keep(_ own: Caller, for number: Int) {
    guard own.grant != caller.grant else { return }
    // Those that have ended are forgotten before they could add up.
    if ownCallers.count >= service.node.limits.session.operationsPerConnection {
      ownCallers = ownCallers.filter { operations[$0.key] != nil }
    }
    let timer = own.deadline.map { deadline in
      service.loop.schedule(at: deadline) { [weak self] in
        guard let self, self.ownCallers.removeValue(forKey: number) != nil, self.operations[number] != nil else {
          return
        }
        self.endUnauthorized(number, "The credentials have expired.")
      }
    }
    ownCallers[number] = OwnCaller(caller: own, expiry: timer)
  }

  // MARK: Deciding about the client

  /// Finds out whether the client of a socket may connect, which acknowledges or refuses it.
  func ask(_ payload: JSONObject) {
    let request = ConnectionRequest(payload: payload, transport: transport)
    let admission = service.transport.admission
    let asked = AdmissionQuestion(program: admission.asksProgram ? request : nil, caller)
    question = admission.ask(asked) { [weak self] in self?.answered($0) }
    guard question == nil else { return }
    expire(at: caller.deadline)
    accept(nil)
  }

  /// A session without a dialect is a stream that several operations share.
  private var transport: ConnectionRequest.Transport { machine.dialect.map { .webSocket($0) } ?? .eventStream }

  private func answered(_ outcome: Admission.Outcome) {
    guard question != nil else { return }
    question = nil
    switch outcome {
    case .admitted(let caller, let payload):
      self.caller = caller
      expire(at: caller.deadline)
      accept(payload)
    case .refused(let reason):
      noteRefusal("A client was refused by the program.")
      step { $0.refuse(reason, actions: &$1) }
    case .unknown(let reason): refuseUnknown(reason)
    }
  }

  // MARK: Credentials that are no longer good

  /// Other keys are in force: ends what a withdrawn one admitted. Returns how much that was.
  func recheckAccess() -> Int {
    let access = service.node.access
    var count = 0
    if let grant = caller.grant, !access.isGood(grant) {
      withdraw("The credentials were withdrawn.")
      count = 1
    }
    for (number, own) in ownCallers.sorted(by: { $0.key < $1.key }) {
      guard let grant = own.caller.grant, !access.isGood(grant) else { continue }
      ownCallers[number] = nil
      guard operations[number] != nil else { continue }
      endUnauthorized(number, "The credentials were withdrawn.")
      count += 1
    }
    return count
  }

  // MARK: Credentials while the connection is open

  /// The client shows other credentials. They are accepted when they are good and of the same caller; what runs
  /// continues, by the rights that come with them.
  func renew(with credentials: JSONObject) {
    let admission = service.transport.admission
    switch admission.shown(in: credentials) {
    case .nothing: step { $0.renewed(true, actions: &$1) }
    case .refused(let reason): refuseRenewal(reason)
    case .caller(let shown):
      let program = admission.asksProgram ? ConnectionRequest(payload: credentials, transport: transport) : nil
      renewal = admission.ask(AdmissionQuestion(program: program, shown)) { [weak self] outcome in
        guard let self, self.renewal != nil else { return }
        self.renewal = nil
        switch outcome {
        case .admitted(let caller, _): self.takeOver(caller)
        case .refused: self.refuseRenewal("program")
        case .unknown(let reason): self.refuseRenewal(reason)
        }
      }
      if renewal == nil { takeOver(shown) }
    }
  }

  private func takeOver(_ shown: Caller) {
    guard shown.isSame(as: caller) else { return refuseRenewal("other-caller") }
    renew(shown)
    step { $0.renewed(true, actions: &$1) }
  }

  private func refuseRenewal(_ reason: String) {
    noteRefusal("A client showed credentials that are not accepted in place of its own.", reason)
    step { $0.renewed(false, actions: &$1) }
  }

  /// The client has shown newer credentials of the same caller.
  func renew(_ caller: Caller) {
    self.caller = caller
    expire(at: caller.deadline)
    recheckRights()
  }

  /// Ends the session at `deadline`, so that the client comes back with other credentials; nil for no end. Where the
  /// dialect can say so, the client is warned before.
  func expire(at deadline: Instant?) {
    expiry?.cancel()
    expiry = nil
    guard socket != nil || stream != nil else { return }
    lifetime = TokenLifetime(end: deadline, lead: service.node.limits.session.credentialsWarning)
    armExpiry()
  }

  private func armExpiry() {
    guard let next = lifetime?.deadline else { return }
    expiry = service.loop.schedule(at: next) { [weak self] in
      guard let self else { return }
      switch self.lifetime?.reached(self.service.loop.now) {
      case .warn(let end):
        let left = end - self.service.loop.now
        self.step { $0.warn(left, actions: &$1) }
        self.armExpiry()
      case .end: self.withdraw("The credentials have expired.")
      case nil: self.armExpiry()
      }
    }
  }

  /// Ends the session as its dialect says that credentials are not accepted, so that the client asks for others. Where
  /// operations run for callers of their own, the others end and the session stays.
  private func withdraw(_ reason: String) {
    service.node.audit.withdrawn(caller.identity, use.peer, reason: reason)
    let numbers = operations.keys.sorted()
    if numbers.contains(where: { ownCallers[$0] != nil }) {
      caller = Caller(refused: "ended")
      for number in numbers where ownCallers[number] == nil { endUnauthorized(number, reason) }
      return
    }
    guard stream != nil else { return step { $0.withdraw(reason, actions: &$1) } }
    for number in operations.keys.sorted() { endUnauthorized(number, reason) }
    step { $0.end(.policyViolation, reason, actions: &$1) }
  }

  func endUnauthorized(_ number: Int, _ reason: String) {
    stop(number)
    let error = ResponseError(reason, extensions: ["code": "UNAUTHENTICATED"])
    step { $0.fail(number, errors: Self.list([error]), actions: &$1) }
  }
}
