/// Why a token is refused. For operators and metrics: a caller only ever learns that it is not authorized.
///
/// Values from the token appear only where they help an operator and are not secret, and are shortened by `quoted`.
package enum TokenRefusal: Error, Sendable, Hashable {
  /// More than `TokenLimits.tokenBytes` or `headerBytes`.
  case tooLarge
  /// Not three parts with two dots between them (RFC 7515, section 7.1). Five parts are an encrypted token.
  case notThreeParts(Int)
  /// A part that is not base64url.
  case malformedEncoding(Part)
  /// A part that is not JSON within the limits: grammar, nesting, or a member that occurs twice.
  case malformedJSON(Part, String)
  /// A part that is JSON but not an object.
  case notAnObject(Part)
  /// A header parameter or claim of the wrong type.
  case wrongType(Part, String)
  /// A token without `alg`.
  case missingAlgorithm
  /// `alg` is `none`: the token has no signature.
  case unsigned
  /// An `alg` that is not implemented.
  case unknownAlgorithm(String)
  /// An `alg` that the configuration does not allow.
  case algorithmNotAllowed(TokenAlgorithm)
  /// An `alg` that is not the one of the key that the token names.
  case algorithmMismatch(token: TokenAlgorithm, key: TokenAlgorithm)
  /// `crit` is malformed (RFC 7515, section 4.1.11).
  case malformedCritical(String)
  /// `crit` names an extension that is not implemented.
  case notUnderstood(String)
  /// The payload is not base64url (`b64` is false, RFC 7797), which a bearer token may not be.
  case unencodedPayload
  /// `typ` names another kind of token.
  case otherKind(String)
  /// No key of the set has the token's `kid`, or none fits its `alg`.
  case unknownKey(String?)
  /// The key that the token names is in the set, but was refused.
  case keyRefused(KeyRefusal)
  /// Several keys of the set have the token's `kid` and `alg`.
  case ambiguousKey(String)
  /// More keys fit a token without `kid` than `TokenLimits.keysTried`.
  case tooManyKeys
  /// The signature is not that of the key over these bytes.
  case wrongSignature
  /// A claim that the policy requires is not there.
  case missingClaim(String)
  /// `iss` is another issuer than the configured one.
  case wrongIssuer(String)
  /// `aud` names none of the configured audiences.
  case wrongAudience
  /// The time is at or after `exp` and the allowed skew.
  case expired(at: Duration)
  /// The time is before `nbf` by more than the allowed skew.
  case notYetValid(until: Duration)
  /// `iat` is in the future by more than the allowed skew, where the policy limits the age.
  case issuedInFuture(Duration)
  /// `iat` is longer ago than the policy's age.
  case tooOld(Duration)

  package enum Part: String, Sendable, Hashable { case header, payload, signature }
}

extension TokenRefusal {
  /// A stable name for metrics and logs, without values of the token.
  package var code: String {
    switch self {
    case .tooLarge: "too-large"
    case .notThreeParts: "not-three-parts"
    case .malformedEncoding: "malformed-encoding"
    case .malformedJSON: "malformed-json"
    case .notAnObject: "not-an-object"
    case .wrongType: "wrong-type"
    case .missingAlgorithm: "missing-algorithm"
    case .unsigned: "unsigned"
    case .unknownAlgorithm: "unknown-algorithm"
    case .algorithmNotAllowed: "algorithm-not-allowed"
    case .algorithmMismatch: "algorithm-mismatch"
    case .malformedCritical: "malformed-critical"
    case .notUnderstood: "not-understood"
    case .unencodedPayload: "unencoded-payload"
    case .otherKind: "other-kind"
    case .unknownKey: "unknown-key"
    case .keyRefused: "key-refused"
    case .ambiguousKey: "ambiguous-key"
    case .tooManyKeys: "too-many-keys"
    case .wrongSignature: "wrong-signature"
    case .missingClaim: "missing-claim"
    case .wrongIssuer: "wrong-issuer"
    case .wrongAudience: "wrong-audience"
    case .expired: "expired"
    case .notYetValid: "not-yet-valid"
    case .issuedInFuture: "issued-in-future"
    case .tooOld: "too-old"
    }
  }
}

extension TokenRefusal {
  /// Whether the text is not a token of the issuer whose policy refused it: another issuer's, or not a token at all.
  package var isOfNoIssuer: Bool {
    switch self {
    case .wrongIssuer, .notThreeParts, .malformedEncoding, .malformedJSON, .notAnObject: true
    case .tooLarge, .wrongType, .missingAlgorithm, .unsigned, .unknownAlgorithm, .algorithmNotAllowed,
      .algorithmMismatch, .malformedCritical, .notUnderstood, .unencodedPayload, .otherKind, .unknownKey, .keyRefused,
      .ambiguousKey, .tooManyKeys, .wrongSignature, .missingClaim, .wrongAudience, .expired, .notYetValid,
      .issuedInFuture, .tooOld:
      false
    }
  }
}

extension TokenRefusal: CustomStringConvertible {
  /// One sentence for an operator.
  package var description: String {
    switch self {
    case .tooLarge: "the token or its header is larger than the limit"
    case .notThreeParts(5): "the token has five parts: it is encrypted, and only signed tokens are accepted"
    case .notThreeParts(let count): "the token has \(count - 1) dots, and needs two"
    case .malformedEncoding(let part): "the \(part.rawValue) is not base64url without padding"
    case .malformedJSON(let part, let reason): "the \(part.rawValue) is malformed: \(reason)"
    case .notAnObject(let part): "the \(part.rawValue) is not a JSON object"
    case .wrongType(let part, let name): "\"\(name)\" in the \(part.rawValue) has the wrong type"
    case .missingAlgorithm: "the header has no \"alg\""
    case .unsigned: "the token is not signed (\"alg\" is \"none\")"
    case .unknownAlgorithm(let name): "the algorithm \(Self.quoted(name)) is not implemented"
    case .algorithmNotAllowed(let algorithm): "the algorithm \(algorithm.rawValue) is not allowed"
    case .algorithmMismatch(let token, let key):
      "the token says \(token.rawValue), its key is for \(key.rawValue)"
    case .malformedCritical(let reason): "\"crit\" is malformed: \(reason)"
    case .notUnderstood(let name): "\"crit\" names \(Self.quoted(name)), which is not implemented"
    case .unencodedPayload: "\"b64\" is false, and unencoded payloads are not accepted"
    case .otherKind(let type): "\"typ\" is \(Self.quoted(type)): a token of another kind"
    case .unknownKey(let id?): "no key fits \"kid\" \(Self.quoted(id))"
    case .unknownKey(nil): "the token names no key, and no key fits its algorithm"
    case .keyRefused(let refusal): "its key is refused: \(refusal.description)"
    case .ambiguousKey(let id): "several keys have \"kid\" \(Self.quoted(id))"
    case .tooManyKeys: "the token names no key, and too many fit its algorithm"
    case .wrongSignature: "the signature is wrong"
    case .missingClaim(let name): "the claim \"\(name)\" is missing"
    case .wrongIssuer(let issuer): "the issuer is \(Self.quoted(issuer))"
    case .wrongAudience: "the audience is another one"
    case .expired(let time): "it expired at \(NumericDate.text(time))"
    case .notYetValid(let time): "it is not valid before \(NumericDate.text(time))"
    case .issuedInFuture(let time): "it was issued in the future, at \(NumericDate.text(time))"
    case .tooOld(let time): "it was issued too long ago, at \(NumericDate.text(time))"
    }
  }

  /// Text from a token in quotes: at most 64 characters, and nothing that a terminal or a log would interpret.
  package static func quoted(_ text: String) -> String {
    let limit = 64
    var shown = ""
    for scalar in text.unicodeScalars.prefix(limit) {
      let isPlain = scalar.value >= 0x20 && scalar.value < 0x7F && scalar != "\"" && scalar != "\\"
      shown += isPlain ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
    }
    return "\"\(shown)\(text.unicodeScalars.count > limit ? "…" : "")\""
  }
}
