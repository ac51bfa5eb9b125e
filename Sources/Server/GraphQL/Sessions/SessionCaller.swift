internal import MartletGraphQLWire
internal import MartletJSON
internal import MartletRuntime
internal import MartletSockets
internal import MartletTokens
internal import MartletVocabulary
internal import MartletWire

/// What a caller's rights mean for the session.
protocol SessionCallerOwner: AnyObject {
  /// The caller is the same and has other rights than before.
  func rightsChanged()
  /// The caller's rights have ended. The reason is for the client.
  func withdraw(_ reason: String)
}

/// Whose session it is: from the first credentials to their renewal and their end. Confined to its loop.
final class SessionCaller {
  /// What an operation's own authorization comes to, which only AppSync's clients send. A connection that was admitted
  /// may leave it out.
  enum OwnAuthorization {
    case caller(Caller)
    /// The key of its token has to be looked for.
    case asks(AdmissionQuestion)
    /// The reason is a stable name.
    case refused(String)
  }

  weak var owner: (any SessionCallerOwner)?
  /// Whose session it is; without a grant until credentials were accepted.
  private(set) var current: Caller
  private let link: SessionLink
  private let use: SessionUse
  /// AppSync's authorization, until the client was admitted.
  private var authorization: JSONObject?
  /// Warns of the end of the caller's rights, and ends the session then.
  private var lifetime: TokenLifetime?
  private var expiry: LoopTimer?
  /// The question to the program whether the client of a socket may connect.
  private var question: PendingQuestion?
  /// The question about other credentials of a client that is connected.
  private var renewal: PendingQuestion?

  private var service: GraphQLService { link.service }

  init(_ caller: Caller, authorization: JSONObject?, _ link: SessionLink, _ use: SessionUse) {
    current = caller
    self.authorization = authorization
    self.link = link
    self.use = use
  }

  /// Begins with a caller that was admitted by the request that opens a stream.
  func begin(_ caller: Caller) {
    current = caller
    expire(at: caller.deadline)
  }

  // MARK: Deciding about the client

  /// Judges the first credentials, which acknowledges or refuses the client.
  func authenticate(_ payload: JSONObject?) {
    // What came with the handshake stays; a guest may prove more.
    if current.isUnknown || current.grant == .guest {
      switch service.transport.admission.shown(
        in: authorization ?? payload, signed: authorization == nil ? nil : service.signedHandshake)
      {
      case .caller(let shown): current = shown
      case .refused(let reason): current = Caller(refused: reason)
      case .nothing: break
      }
    }
    guard !current.isUnknown else { return refuseUnknown(current.refusal) }
    ask(authorization ?? payload ?? JSONObject())
  }

  private func ask(_ payload: JSONObject) {
    let request = ConnectionRequest(payload: payload, transport: link.transport)
    let admission = service.transport.admission
    let asked = AdmissionQuestion(program: admission.asksProgram ? request : nil, current)
    question = admission.ask(asked) { [weak self] in self?.answered($0) }
    guard question == nil else { return }
    expire(at: current.deadline)
    accept(nil)
  }

  private func answered(_ outcome: Admission.Outcome) {
    guard question != nil else { return }
    question = nil
    switch outcome {
    case .admitted(let caller, let payload):
      current = caller
      expire(at: caller.deadline)
      accept(payload)
    case .refused(let reason):
      link.noteRefusal("A client was refused by the program.")
      link.step { $0.refuse(reason, actions: &$1) }
    case .unknown(let reason): refuseUnknown(reason)
    }
  }

  /// Refuses a client whose credentials are not accepted, or that shows none.
  private func refuseUnknown(_ reason: String?) {
    link.noteRefusal("A client was refused: its credentials are not known.", reason)
    link.step { $0.refuse("Forbidden", actions: &$1) }
  }

  /// Acknowledges the connection.
  private func accept(_ payload: JSONObject?) {
    authorization = nil
    if link.socket != nil, let refusal = use.connect(current, service) {
      return link.step { refusal.refuse(&$0, &$1) }
    }
    link.socket?.bound(messageBytes: nil)
    service.node.audit.connected(current.identity, use.peer, over: link.machine.dialect?.name ?? "events")
    let now = service.loop.now
    link.step { $0.accept(payload: payload, at: now, actions: &$1) }
  }

  /// Judges an operation's own authorization.
  func authorization(of request: RequestPayload) -> OwnAuthorization {
    guard link.machine.dialect?.authorizesEachOperation == true, let blob = request.extensions["authorization"] else {
      return current.isUnknown ? .refused(current.refusal ?? "missing") : .caller(current)
    }
    switch service.transport.admission.shown(
      in: blob.object,
      signed: request.signedText.map { SignedRequest(target: service.node.path + "/graphql", body: $0) })
    {
    case .caller(let own):
      if own.unresolved != nil { return .asks(AdmissionQuestion(program: nil, own)) }
      // Where the program decides, it has decided about the connection.
      return .caller(own.grant == current.grant ? current : own)
    case .refused(let reason): return .refused(reason)
    case .nothing: return .refused("missing")
    }
  }

  // MARK: Credentials while the connection is open

  /// The client shows other credentials. They are accepted when they are good and of the same caller; what runs
  /// continues, by the rights that come with them.
  func renew(with credentials: JSONObject) {
    let admission = service.transport.admission
    switch admission.shown(in: credentials) {
    case .nothing: link.step { $0.renewed(true, actions: &$1) }
    case .refused(let reason): refuseRenewal(reason)
    case .caller(let shown):
      let program = admission.asksProgram ? ConnectionRequest(payload: credentials, transport: link.transport) : nil
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
    guard shown.isSame(as: current) else { return refuseRenewal("other-caller") }
    renew(shown)
    link.step { $0.renewed(true, actions: &$1) }
  }

  private func refuseRenewal(_ reason: String) {
    link.noteRefusal("A client showed credentials that are not accepted in place of its own.", reason)
    link.step { $0.renewed(false, actions: &$1) }
  }

  /// The client has shown newer credentials of the same caller.
  func renew(_ caller: Caller) {
    current = caller
    expire(at: caller.deadline)
    owner?.rightsChanged()
  }

  // MARK: The end of the rights

  /// Ends the session at `deadline`, so that the client comes back with other credentials; nil for no end. Where the
  /// dialect can say so, the client is warned before.
  private func expire(at deadline: Instant?) {
    expiry?.cancel()
    expiry = nil
    guard link.isConnected else { return }
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
        self.link.step { $0.warn(left, actions: &$1) }
        self.armExpiry()
      case .end: self.owner?.withdraw("The credentials have expired.")
      case nil: self.armExpiry()
      }
    }
  }

  /// Other keys are in force: ends what a withdrawn one admitted. Returns whether the caller's was one.
  func recheckAccess() -> Bool {
    guard let grant = current.grant, !service.node.access.isGood(grant) else { return false }
    owner?.withdraw("The credentials were withdrawn.")
    return true
  }

  /// Operations with callers of their own keep the session; its own caller starts nothing more.
  func close() { current = Caller(refused: "ended") }

  /// The session is over.
  func ended() {
    expiry?.cancel()
    expiry = nil
    question = nil
    renewal = nil
    lifetime = nil
  }
}
