internal import MartletAccess
internal import MartletRuntime
internal import MartletVocabulary

/// A caller that was admitted.
///
/// One reference, because every step of a request hands it on and every connection keeps one.
struct Caller: Sendable {
  private struct Fields: Sendable {
    var grant: AccessControl.Grant?
    var unresolved: UnresolvedCredential?
    var signature: SignatureClaim?
    var refusal: String?
    var identity: Identity
    var deadline: Instant?
  }

  private final class Box: Sendable {
    let fields: Fields

    init(_ fields: Fields) { self.fields = fields }
  }

  private var box: Box

  private mutating func change(_ body: (inout Fields) -> Void) {
    var fields = box.fields
    body(&fields)
    box = Box(fields)
  }

  /// The callers without credentials of their own, of which most connections have one.
  private static let development = Caller(.development, .system)
  private static let guest = Caller(.guest, .guest)
  private static let unproved = Caller(nil, .guest)

  private init(_ grant: AccessControl.Grant?, _ identity: Identity) {
    box = Box(Fields(grant: grant, identity: identity))
  }

  init(_ grant: AccessControl.Grant?) {
    switch grant {
    case .development: self = Self.development
    case .key(let key): self.init(grant, key.identity)
    case .token(let token): self.init(grant, token.identity)
    case .authorizer(let authorizer): self.init(grant, authorizer.identity)
    case .signature(let key): self.init(grant, key.identity)
    case .guest: self = Self.guest
    case .program: self.init(grant, .guest)
    case nil: self = Self.unproved
    }
  }

  /// A caller whose credentials are not accepted.
  init(refused reason: String) {
    self.init(nil)
    refusal = reason
  }

  /// A caller that has not proved anything yet.
  init(unresolved: UnresolvedCredential) {
    self.init(nil)
    self.unresolved = unresolved
  }

  /// A caller whose request has still to prove to be what was signed.
  init(signed claim: SignatureClaim) {
    self.init(nil)
    signature = claim
  }

  /// The credentials that admitted it; nil for a page that needs none, and on a WebSocket that has shown none yet.
  var grant: AccessControl.Grant? {
    get { box.fields.grant }
    set { change { $0.grant = newValue } }
  }

  /// The credential that it has shown, where the issuer's keys or the authorizer decide about it.
  var unresolved: UnresolvedCredential? {
    get { box.fields.unresolved }
    set { change { $0.unresolved = newValue } }
  }

  /// A signature that it has shown, to be checked when its request has arrived.
  var signature: SignatureClaim? {
    get { box.fields.signature }
    set { change { $0.signature = newValue } }
  }

  /// Why its credentials are not accepted, as a stable name for the log.
  var refusal: String? {
    get { box.fields.refusal }
    set { change { $0.refusal = newValue } }
  }

  var identity: Identity {
    get { box.fields.identity }
    set { change { $0.identity = newValue } }
  }

  /// When its rights end, by the loop's clock.
  var deadline: Instant? {
    get { box.fields.deadline }
    set { change { $0.deadline = newValue } }
  }

  /// Whether the caller may ask for the schema; nil for what the configuration says.
  var allowsIntrospection: Bool? {
    if case .key(let key)? = grant { key.introspection } else { nil }
  }

  /// Whether it has neither shown credentials nor been admitted as one that needs none.
  var isUnknown: Bool { grant == nil && unresolved == nil && signature == nil }

  /// Whether two requests come from one caller, whatever their credentials' age.
  func isSame(as other: Caller) -> Bool {
    identity.provider == other.identity.provider
      && identity.subject.map { Array($0.utf8) } == other.identity.subject.map { Array($0.utf8) }
  }
}
