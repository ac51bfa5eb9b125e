internal import MartletJSON
internal import MartletWireProtocols

/// A caller that was admitted: by which credentials.
struct Caller: Sendable {
  /// What admitted it; nil where no credentials are needed, and on a WebSocket that has shown none yet.
  var grant: AccessControl.Grant?
}

/// The one place that decides whether a request is served, for every endpoint and every kind of connection.
struct Admission {
  enum Decision {
    case admitted(Caller)
    case refused(HTTPAnswer)
  }

  let access: AccessControl

  var origins: OriginCheck { access.origins }

  /// What a request shows of its caller, under the configured names, for a program that is asked.
  func credentials(of head: HTTPRequestHead) -> JSONObject {
    access.credentials { head.headers.value(named: $0) }
  }

  /// The caller that shows its credentials in a message's payload; nil when they are not accepted.
  func caller(payload: JSONObject?) -> Caller? {
    access.grant(payload: payload).map { Caller(grant: $0) }
  }

  /// Judges a request by its head.
  func judge(_ head: HTTPRequestHead, _ rule: AdmissionRule, peerIsLoopback: Bool) -> Decision {
    if case .open = rule { return .admitted(Caller()) }
    let refusal = access.origins.refusal(
      host: head.headers["Host"], origin: head.headers["Origin"], peerIsLoopback: peerIsLoopback)
    if let refusal { return .refused(.error(403, refusal.rawValue, "FORBIDDEN", note: .violation)) }
    let grant = access.grant(apiKey: head.headers["x-api-key"], authorization: head.headers["Authorization"])
    if case .identified = rule, grant == nil {
      return .refused(
        .error(
          401, "An API key is needed: x-api-key or Authorization: Bearer.", "UNAUTHENTICATED",
          note: .credentials("A request was refused: its credentials are not known.")))
    }
    return .admitted(Caller(grant: grant))
  }
}
