internal import MartletGraphQLExecution
internal import MartletJSON
internal import MartletRuntime
internal import MartletWireProtocols

extension GraphQLSession {
  /// What an operation's own authorization is answered with; nil when it may run. Only AppSync's clients send one. A
  /// connection that was let in may leave it out.
  func authorizationRefusal(_ number: Int, _ request: GraphQLRequest) -> ResponseError? {
    guard machine.dialect?.authorizesEachOperation == true, let blob = request.extensions["authorization"] else {
      return nil
    }
    guard let own = hub.node.access.grant(payload: blob.object) else {
      noteRefusal("A subscription was refused: its credentials are not known.")
      return ResponseError("You are not authorized to make this call.", extensions: ["code": "UNAUTHENTICATED"])
    }
    guard own != caller.grant else { return nil }
    // Those that have ended are forgotten before they could add up.
    if ownGrants.count >= hub.node.limits.operationsPerConnection {
      ownGrants = ownGrants.filter { operations[$0.key] != nil }
    }
    ownGrants[number] = own
    return nil
  }

  // MARK: Credentials that are no longer good

  /// Other keys are in force: ends what a withdrawn one let in. Answers how much that was.
  func recheckAccess() -> Int {
    let access = hub.node.access
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

  /// The program has let the client in for so long, nil for ever; then it has to come back with other credentials.
  func expire(after duration: Duration?) {
    expiry?.cancel()
    expiry = nil
    guard let duration, socket != nil || stream != nil else { return }
    expiry = hub.loop.schedule(at: hub.loop.now + duration) { [weak self] in
      self?.withdraw("The credentials have expired.")
    }
  }

  /// Ends the session as its dialect says that credentials are not good, so that the client asks for others.
  private func withdraw(_ reason: String) {
    guard let stream else { return step { $0.withdraw(reason, actions: &$1) } }
    if question != nil {
      // Nothing has been sent yet, so that the request itself can be refused.
      question = nil
      return refuse(stream, reason)
    }
    for number in operations.keys.sorted() { endUnauthorized(number, reason) }
    step { $0.end(.policyViolation, reason, actions: &$1) }
  }

  /// Refuses the request of a streamed response that has not begun.
  func refuse(_ stream: HTTPStream, _ reason: String) {
    ended()
    stream.refuse(reason)
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
