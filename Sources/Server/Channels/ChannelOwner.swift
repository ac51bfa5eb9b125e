internal import MartletAccess
internal import MartletJSON
internal import MartletVocabulary

/// The caller for whom a subscription or a device was made.
struct ChannelOwner {
  let identity: Identity
  /// When the last credentials end that it has shown, as time since 1970; nil where they end by the access file alone.
  let end: Duration?

  /// Reads what `json` wrote; null stands for an administrator, to whom no rule applies.
  init(_ json: JSONValue) {
    guard json.object != nil else {
      (identity, end) = (.system, nil)
      return
    }
    identity = Identity(
      provider: json["provider"]?.string.flatMap { IdentityProvider(rawValue: $0) } ?? .guest,
      subject: json["subject"]?.string, groups: (json["groups"]?.array ?? []).compactMap(\.string),
      claims: json["claims"]?.object ?? JSONObject())
    end = json["expires"]?.int.map { .milliseconds($0) }
  }

  /// What of an identity is kept.
  static func json(of identity: Identity) -> JSONValue {
    var json: JSONObject = [
      "provider": .string(identity.provider.rawValue), "subject": identity.subject.map { .string($0) } ?? .null,
      "groups": .array(identity.groups.map { .string($0) }), "claims": .object(identity.claims),
    ]
    if let end = proofEnd(of: identity) { json["expires"] = .int(end.wholeNanoseconds / 1_000_000) }
    return .object(json)
  }

  /// When what proves an identity ends; nil for keys, whose end is in the access file, and for what does not end.
  static func proofEnd(of identity: Identity) -> Duration? {
    switch identity.provider {
    case .userPools, .oidc, .function, .identityPool: identity.expires
    case .apiKey, .iam, .guest, .system: nil
    }
  }

  var caller: Caller {
    var caller = Caller(nil)
    caller.identity = identity
    return caller
  }

  var tree: TreeCaller { identity.provider == .system ? .administrator : TreeCaller(identity) }

  /// Whether a caller is the owner, with these credentials or later ones: tokens of one caller have other claims each
  /// time. The subject is a name with its issuer only.
  func isSame(as caller: Caller) -> Bool {
    identity.provider != .system && identity.subject != nil && caller.isSame(as: self.caller)
      && caller.identity.claims["iss"] == identity.claims["iss"]
  }
}
