internal import MartletAccess
internal import MartletJSON
internal import MartletWire

/// An access key whose signatures a server accepts (AWS Signature Version 4), as AppSync does for IAM: each request
/// over HTTP, each handshake of AppSync's WebSocket and each of its subscriptions is signed anew; the secret is never
/// sent.
///
/// Callers have the provider `iam` and the key's id as their subject.
public struct SigningKey: Sendable, Hashable {
  /// The key's name, which is sent.
  public var accessKeyID: String
  /// The secret. It is needed as it is to check signatures, so that the access file has to be kept from others.
  public var secretAccessKey: String
  /// The token of keys that are lent for a time; requests must carry the same.
  public var sessionToken: String?
  /// The region that signatures must be for; nil for any.
  public var region: String?
  /// The groups of its callers.
  public var groups: [String] = []

  /// A key for any region, without groups.
  public init(accessKeyID: String, secretAccessKey: String) {
    self.accessKeyID = accessKeyID
    self.secretAccessKey = secretAccessKey
  }

  /// What is wrong with an entry of the access file.
  struct Malformed: Error {
    /// A clause that follows the entry's place.
    let description: String
  }

  /// Reads an entry of the access file's `signing`.
  init(_ entry: JSONValue) throws(Malformed) {
    guard let members = entry.object else { throw Malformed(description: "is not an object") }
    let known = ["accessKeyID", "secretAccessKey", "sessionToken", "region", "groups"]
    if let other = members.keys.first(where: { !known.contains($0) }) {
      throw Malformed(description: "has the member \"\(other)\", which does not exist")
    }
    func text(_ name: String) throws(Malformed) -> String? {
      guard let value = members[name] else { return nil }
      guard let text = value.string, !text.isEmpty else { throw Malformed(description: "needs \"\(name)\" as text") }
      return text
    }
    guard let id = try text("accessKeyID"), let secret = try text("secretAccessKey") else {
      throw Malformed(description: "needs \"accessKeyID\" and \"secretAccessKey\"")
    }
    guard !id.utf8.contains(UInt8(ascii: "/")), secret.utf8.count >= Self.shortestSecret else {
      throw Malformed(description: "(\(id)) needs a secret of \(Self.shortestSecret) bytes, and an id without \"/\"")
    }
    self.init(accessKeyID: id, secretAccessKey: secret)
    sessionToken = try text("sessionToken")
    region = try text("region")
    if let value = members["groups"] {
      guard let list = value.array?.compactMap(\.string), list.count == value.array?.count else {
        throw Malformed(description: "(\(id)) needs \"groups\" as a list of names")
      }
      groups = list
    }
  }

  /// Shorter secrets can be found by trying: each signed request can be compared with guesses.
  static let shortestSecret = 16

  var identity: Identity { Identity(provider: .iam, subject: accessKeyID, groups: groups) }

  var keys: RequestSigner.Keys {
    RequestSigner.Keys(accessKeyID: accessKeyID, secretAccessKey: secretAccessKey, sessionToken: sessionToken)
  }
}

/// What a signature has to be over.
struct SignedRequest: Sendable {
  var method = "POST"
  var target: String
  var fields: [RequestSigner.Field] = []
  var body: [UInt8]
}

/// A signature by a known key whose request has still to arrive.
final class SignatureClaim: Sendable {
  let signature: RequestSignature
  let key: SigningKey

  init(signature: RequestSignature, key: SigningKey) {
    self.signature = signature
    self.key = key
  }

  /// Whether the request is what was signed. `milliseconds` is the calendar's, since 1970.
  func check(_ request: SignedRequest, at milliseconds: Int64) throws(RequestSignature.Failure) {
    try signature.check(
      key.keys, request.method, request.target, request.fields, body: request.body, at: milliseconds)
  }
}
