internal import MartletGraphQLExecution
internal import MartletGraphQLWire
internal import MartletJSON
internal import MartletRuntime
internal import MartletVocabulary
internal import MartletWire

/// An operation's own credentials are not known.
struct RefusedCredentials: Error {
  var response: ResponseError {
    ResponseError("You are not authorized to make this call.", extensions: ["code": "UNAUTHENTICATED"])
  }
}

extension GraphQLSession {
  /// Judges an operation's own authorization, which only AppSync's clients send. A connection that was admitted may
  /// leave it out.
  ///
  /// - Returns: the caller that the operation runs for, or why it does not run.
  func caller(of number: Int, _ request: GraphQLRequest) -> Result<Caller, RefusedCredentials> {
    guard machine.dialect?.authorizesEachOperation == true, let blob = request.extensions["authorization"] else {
      return .success(caller)
    }
    guard let own = service.transport.admission.caller(payload: blob.object), let grant = own.grant else {
      noteRefusal("A subscription was refused: its credentials are not known.")
      return .failure(RefusedCredentials())
    }
    // Where the program decides, it has decided about the connection.
    guard grant != caller.grant else { return .success(caller) }
    // Those that have ended are forgotten before they could add up.
    if ownGrants.count >= service.node.limits.session.operationsPerConnection {
      ownGrants = ownGrants.filter { operations[$0.key] != nil }
    }
    ownGrants[number] = grant
    return .success(own)
  }

  // MARK: Asking the program

  /// Asks the program whether the client of a socket may connect; the answer acknowledges or refuses.
  func ask(_ payload: JSONObject) {
    let dialect: ConnectionRequest.Dialect =
      switch machine.dialect {
      case .transportWS: .graphqlTransportWS
      case .legacy: .graphqlWS
      case .appSync: .appSync
      case nil: .eventStream
      }
    let request = ConnectionRequest(payload: payload, dialect: dialect)
    question = service.transport.admission.ask(request, caller) { [weak self] in self?.answered($0) }
    guard question == nil else { return }
    expire(at: caller.deadline)
    accept(nil)
  }

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
    }
  }

  // MARK: Credentials that are no longer good

  /// Other keys are in force: ends what a withdrawn one admitted. Returns how much that was.
  func recheckAccess() -> Int {
    let access = service.node.access
    if let grant = caller.grant, !access.isGood(grant) {
      withdraw("The credentials were withdrawn.")
      return 1
    }
    var count = 0
    for (number, grant) in ownGrants.sorted(by: { $0.key < $1.key }) where !access.isGood(grant) {
      ownGrants[number] = nil
      guard operations[number] != nil else { continue }
      endUnauthorized(number, "The credentials were withdrawn.")
      count += 1
    }
    return count
  }

  /// Ends the session at `deadline`, so that the client comes back with other credentials; nil for no end.
  func expire(at deadline: Instant?) {
    expiry?.cancel()
    expiry = nil
    guard let deadline, socket != nil || stream != nil else { return }
    expiry = service.loop.schedule(at: deadline) { [weak self] in
      self?.withdraw("The credentials have expired.")
    }
  }

  /// Ends the session as its dialect says that credentials are not accepted, so that the client asks for others.
  private func withdraw(_ reason: String) {
    guard stream != nil else { return step { $0.withdraw(reason, actions: &$1) } }
    for number in operations.keys.sorted() { endUnauthorized(number, reason) }
    step { $0.end(.policyViolation, reason, actions: &$1) }
  }

  private func endUnauthorized(_ number: Int, _ reason: String) {
    stop(number)
    let error = ResponseError(reason, extensions: ["code": "UNAUTHENTICATED"])
    step { $0.fail(number, errors: Self.list([error]), actions: &$1) }
  }

  /// What a query or mutation is answered with where the dialect has no room for it.
  func kindRefusal() -> ResponseError? {
    guard machine.dialect?.carriesQueries == false else { return nil }
    return ResponseError(
      "This protocol carries subscriptions only; send queries and mutations by HTTP.",
      extensions: ["code": "UNSUPPORTED_OPERATION"])
  }
}
