internal import MartletJSON

/// What a custom authorizer answered about a credential, in the form of AppSync's function authorizers with members of
/// our own for the identity.
///
/// ```json
/// { "isAuthorized": true, "subject": "ada", "groups": ["staff"], "claims": { "team": "gate" },
///   "expires": 1893456000, "ttlOverride": 60 }
/// ```
package enum AuthorizerAnswer: Sendable, Hashable {
  /// - Parameter cacheTime: For how long the answer may be used again; nil where it does not say.
  case accepted(Identity, cacheTime: Duration?)
  case refused

  /// Reads an answer with its HTTP status. The statuses 401 and 403 refuse whatever the body says.
  package init(status: Int, body: [UInt8], limits: AuthorizerLimits) throws(AuthorizerFailure) {
    switch status {
    case 200: break
    case 401, 403:
      self = .refused
      return
    default: throw .status(status)
    }
    guard body.count <= limits.answerBytes else { throw .tooLarge }
    var bounds = JSONLimits()
    bounds.depth = limits.depth
    // Two members of one name are read differently by different parsers.
    bounds.duplicateKeys = .reject
    let value: JSONValue
    do {
      value = try JSONValue(parsing: body, limits: bounds)
    } catch {
      throw .malformed(error.description)
    }
    guard let members = value.object else { throw .malformed("it is not an object") }
    guard let isAuthorized = members["isAuthorized"]?.bool else {
      throw .malformed("\"isAuthorized\" is not true or false")
    }
    self = isAuthorized ? try Self.accepted(members) : .refused
  }

  private static func accepted(_ members: JSONObject) throws(AuthorizerFailure) -> AuthorizerAnswer {
    // AppSync hides such fields. Rules of fields do that here; an answer that asks for more than is done is refused.
    if let denied = members["deniedFields"], denied.array?.isEmpty != true, !denied.isNull {
      throw .malformed("\"deniedFields\" is not implemented: hide fields with @auth rules")
    }
    var identity = Identity(provider: .function)
    if let subject = members["subject"], !subject.isNull {
      guard let text = subject.string, !text.isEmpty else { throw .malformed("\"subject\" is not text") }
      identity.subject = text
    }
    if let groups = members["groups"], !groups.isNull {
      guard let list = groups.array else { throw .malformed("\"groups\" is not a list") }
      for group in list {
        guard let name = group.string else { throw .malformed("\"groups\" has an entry that is not text") }
        identity.groups.append(name)
      }
    }
    for name in ["resolverContext", "claims"] {
      guard let claims = members[name], !claims.isNull else { continue }
      guard let object = claims.object else { throw .malformed("\"\(name)\" is not an object") }
      for (name, value) in object { identity.claims[name] = value }
    }
    if let end = try seconds("expires", members) { identity.expires = end }
    return .accepted(identity, cacheTime: try seconds("ttlOverride", members))
  }

  /// The year 9999; later times are mistakes, such as milliseconds.
  private static func seconds(_ name: String, _ members: JSONObject) throws(AuthorizerFailure) -> Duration? {
    guard let value = members[name], !value.isNull else { return nil }
    guard let number = value.int, (0...APIKey.farthest).contains(number) else {
      throw .malformed("\"\(name)\" is not whole seconds")
    }
    return .seconds(number)
  }
}
