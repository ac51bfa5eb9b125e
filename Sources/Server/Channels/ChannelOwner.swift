internal import MartletAccess
internal import MartletJSON

/// The caller for whom a subscription or a device was made.
struct ChannelOwner {
  let identity: Identity

  /// Reads what `json` wrote; null stands for an administrator, to whom no rule applies.
  init(_ json: JSONValue) {
    guard json.object != nil else {
      identity = .system
      return
    }
    identity = Identity(
      provider: json["provider"]?.string.flatMap { IdentityProvider(rawValue: $0) } ?? .guest,
      subject: json["subject"]?.string, groups: (json["groups"]?.array ?? []).compactMap(\.string),
      claims: json["claims"]?.object ?? JSONObject())
  }

  /// What of an identity is kept.
  static func json(of identity: Identity) -> JSONValue {
    [
      "provider": .string(identity.provider.rawValue), "subject": identity.subject.map { .string($0) } ?? .null,
      "groups": .array(identity.groups.map { .string($0) }), "claims": .object(identity.claims),
    ]
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
