internal import MartletAccess
internal import MartletJSON
internal import MartletSignatures
internal import MartletTokens

/// The access configuration: which credentials are accepted, and which web pages may use the server.
///
/// As a JSON file:
///
/// ```json
/// {
///   "keys": [
///     { "name": "departure board", "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
///       "operations": [ "read" ], "models": [ "Flight" ] },
///     { "name": "visitor", "sha256": "…", "expires": 1893456000 }
///   ],
///   "tokens": [
///     { "issuer": "https://login.example", "audience": [ "board" ] }
///   ],
///   "authorizer": { "url": "https://login.example/authorize", "timeout": 5, "cache": 300 },
///   "signing": [ { "accessKeyID": "AKID…", "secretAccessKey": "…", "region": "eu-central-1" } ],
///   "guests": true,
///   "queryCredentials": false,
///   "signIn": { "secret": "…", "anonymous": true },
///   "origins": [ "https://board.example" ]
/// }
/// ```
///
/// Credentials are tried in that order: API keys, tokens, then the custom authorizer (`HTTPAuthorizer`); signatures
/// of `signing` (`SigningKey`) stand in the place of a token. Callers that show none are admitted as guests where
/// `guests` is true; credentials that are not accepted are refused in any case. `signIn` makes `POST /signIn` give
/// tokens of the server's own, to anonymous users and for the custom tokens of a back end; it is read when the server
/// starts. `queryCredentials` makes requests for `/PATH.json` show credentials in their query, as `auth` or
/// `access_token`, which is how the clients of the Realtime Database's REST interface do it; without it a query holds
/// none, because addresses are kept in logs and histories. A key's `expires` is in seconds since
/// 1970; a key without it is accepted until it is removed from the file. A key's `introspection`, `true` or `false`,
/// says whether its callers may ask for the schema, whatever the server's configuration says.
public struct AccessFile: Sendable {
  let keys: APIKeyRing
  let issuers: [CheckedIssuer]
  let authorizer: HTTPAuthorizer?
  let signing: [SigningKey]
  let allowsGuests: Bool
  /// Whether requests for `/PATH.json` may show credentials in their query.
  let takesQueryCredentials: Bool
  /// Sign-in at the server itself; nil where there is none.
  let signIn: SignIn?
  /// Origins whose pages may use the server; nil for any.
  let origins: Set<String>?

  /// What is wrong with an access file, and where.
  public struct Malformed: Error, Sendable, CustomStringConvertible {
    /// One sentence.
    public let description: String
  }

  /// An access configuration that is written in the program, without API keys.
  ///
  /// ```swift
  /// configuration.access = .keys(try AccessFile(issuers: [TokenIssuer(issuer: issuer, keys: .discovery)]))
  /// ```
  ///
  /// - Parameters:
  ///   - issuers: The issuers whose tokens are accepted.
  ///   - authorizer: Asked about credentials that are neither an API key nor a token of an issuer.
  ///   - signing: Access keys whose signatures are accepted, as AppSync's IAM.
  ///   - allowsGuests: Whether callers that show no credentials are admitted, for rules that allow the public.
  ///   - origins: Origins whose pages may use the server; nil for any.
  ///   - takesQueryCredentials: Whether requests for `/PATH.json` may show credentials in their query, as `auth` or
  ///     `access_token`. Addresses are kept in logs of proxies and in histories of browsers.
  /// - Throws: `Malformed`, naming the issuer or the authorizer.
  public init(
    issuers: [TokenIssuer] = [], authorizer: HTTPAuthorizer? = nil, signing: [SigningKey] = [],
    allowsGuests: Bool = false, origins: Set<String>? = nil, takesQueryCredentials: Bool = false
  ) throws(Malformed) {
    do {
      keys = try APIKeyRing([])
    } catch {
      throw Malformed(description: "In \"keys\", \(error.description).")
    }
    self.issuers = try Self.checked(issuers)
    self.authorizer = try Self.checked(authorizer)
    self.signing = try Self.checked(signing)
    self.allowsGuests = allowsGuests
    self.takesQueryCredentials = takesQueryCredentials
    signIn = nil
    self.origins = origins
  }

  /// Answers the text of a file that the access file names.
  public typealias Reading = (_ path: String) throws -> String

  /// Reads the file's text.
  ///
  /// ```swift
  /// let access = try AccessFile(text, reading: { try String(contentsOfFile: folder + "/" + $0, encoding: .utf8) })
  /// ```
  ///
  /// - Parameter file: Reads the files that it names, as `keysFile` of `tokens`; without it they are refused. Called
  ///   before the initializer returns only, with the path as it is written.
  /// - Throws: `Malformed`, naming the entry.
  public init(_ text: String, reading file: Reading? = nil) throws(Malformed) {
    let root: JSONValue
    do {
      root = try JSONValue(parsing: text)
    } catch {
      throw Malformed(description: "The access file is not JSON: \(error.description).")
    }
    guard let members = root.object else {
      throw Malformed(description: "The access file is not an object with \"keys\", \"tokens\" and \"origins\".")
    }
    if let unknown = members.first(where: { !Self.members.contains($0.key) }) {
      throw Malformed(description: "The access file has \"\(unknown.key)\", which means nothing here.")
    }
    keys = try Self.keys(members["keys"])
    signIn = try Self.signIn(members["signIn"])
    issuers = try Self.issuers(members["tokens"], file) + Self.checked(signIn.map { [$0.tokens] } ?? [])
    authorizer = try Self.authorizer(members["authorizer"])
    signing = try Self.signing(members["signing"])
    allowsGuests = try Self.flag("guests", in: members)
    takesQueryCredentials = try Self.flag("queryCredentials", in: members)
    guard !keys.keys.isEmpty || !issuers.isEmpty || authorizer != nil || !signing.isEmpty || allowsGuests else {
      throw Malformed(
        description:
          "The access file has neither \"keys\" nor \"tokens\" nor \"authorizer\", so every request would be refused.")
    }
    origins = try Self.origins(members["origins"])
  }

  private static let members = [
    "keys", "tokens", "authorizer", "signing", "guests", "queryCredentials", "signIn", "origins",
  ]

  private static func flag(_ name: String, in members: JSONObject) throws(Malformed) -> Bool {
    guard let value = members[name] else { return false }
    guard let flag = value.bool else { throw Malformed(description: "\"\(name)\" must be true or false.") }
    return flag
  }

  private static func keys(_ value: JSONValue?) throws(Malformed) -> APIKeyRing {
    if let value, value.array == nil { throw Malformed(description: "\"keys\" must be a list.") }
    var keys: [APIKey] = []
    for (index, entry) in (value?.array ?? []).enumerated() {
      do {
        keys.append(try APIKey(entry))
      } catch {
        throw Malformed(description: "keys[\(index)] \(error.description).")
      }
    }
    do {
      return try APIKeyRing(keys)
    } catch {
      throw Malformed(description: "In \"keys\", \(error.description).")
    }
  }

  private static func signIn(_ value: JSONValue?) throws(Malformed) -> SignIn? {
    guard let value else { return nil }
    do { return try SignIn(value) } catch { throw Malformed(description: "\"signIn\" \(error.description).") }
  }

  private static func issuers(_ value: JSONValue?, _ file: Reading?) throws(Malformed) -> [CheckedIssuer] {
    if let value, value.array == nil { throw Malformed(description: "\"tokens\" must be a list.") }
    var issuers: [TokenIssuer] = []
    for (index, entry) in (value?.array ?? []).enumerated() {
      do {
        issuers.append(try TokenIssuer(entry, reading: file))
      } catch {
        throw Malformed(description: "tokens[\(index)] \(error.description).")
      }
    }
    return try checked(issuers)
  }

  private static func signing(_ value: JSONValue?) throws(Malformed) -> [SigningKey] {
    if let value, value.array == nil { throw Malformed(description: "\"signing\" must be a list.") }
    var keys: [SigningKey] = []
    for (index, entry) in (value?.array ?? []).enumerated() {
      do {
        keys.append(try SigningKey(entry))
      } catch {
        throw Malformed(description: "signing[\(index)] \(error.description).")
      }
    }
    return try checked(keys)
  }

  private static func checked(_ keys: [SigningKey]) throws(Malformed) -> [SigningKey] {
    for (position, key) in keys.enumerated() {
      if keys[..<position].contains(where: { $0.accessKeyID.utf8.elementsEqual(key.accessKeyID.utf8) }) {
        throw Malformed(description: "In \"signing\", two keys are called \"\(key.accessKeyID)\".")
      }
    }
    return keys
  }

  private static func authorizer(_ value: JSONValue?) throws(Malformed) -> HTTPAuthorizer? {
    guard let value else { return nil }
    do {
      return try checked(HTTPAuthorizer(value))
    } catch let error as HTTPAuthorizer.Malformed {
      throw Malformed(description: "\"authorizer\" \(error.description).")
    } catch let error as Malformed {
      throw error
    } catch {
      throw Malformed(description: "\"authorizer\" cannot be read: \(error).")
    }
  }

  private static func checked(_ authorizer: HTTPAuthorizer?) throws(Malformed) -> HTTPAuthorizer? {
    do {
      _ = try authorizer?.address()
    } catch {
      throw Malformed(description: "\"authorizer\" \(error.description).")
    }
    return authorizer
  }

  private static func checked(_ issuers: [TokenIssuer]) throws(Malformed) -> [CheckedIssuer] {
    var checked: [CheckedIssuer] = []
    for (index, issuer) in issuers.enumerated() {
      do {
        checked.append(try CheckedIssuer(issuer))
      } catch {
        throw Malformed(description: "tokens[\(index)] \(error.description).")
      }
    }
    return checked
  }

  private static func origins(_ value: JSONValue?) throws(Malformed) -> Set<String>? {
    guard let value, !value.isNull else { return nil }
    guard let origins = value.array?.map(\.string), !origins.contains(nil) else {
      throw Malformed(description: "\"origins\" must be a list of strings such as \"https://board.example\".")
    }
    let named = origins.compactMap { $0 }
    if let wrong = named.first(where: { !OriginCheck.isOrigin($0) }) {
      throw Malformed(
        description: "\"origins\" has \"\(wrong)\", which is not an origin such as \"https://board.example\".")
    }
    return Set(named)
  }
}

/// Sign-in at the server itself, of an access file that has `signIn`: tokens of its own for anonymous users, and for
/// those that the application's back end names by a custom token.
///
/// ```json
/// "signIn": {
///   "secret": "base64url of at least 32 bytes", "anonymous": true, "lifetime": 3600,
///   "custom": { "issuer": "https://own.example", "keys": { "kty": "oct", "alg": "HS256", "k": "…" } }
/// }
/// ```
struct SignIn: Sendable, Hashable {
  /// The `iss` of its tokens.
  let issuer: String
  private let secret: [UInt8]
  /// Seconds for which a token is good.
  let lifetime: Int64
  let allowsAnonymous: Bool
  /// The issuer of custom tokens; nil where none are accepted.
  let custom: TokenIssuer?

  private static let members = ["secret", "issuer", "anonymous", "custom", "lifetime"]
  /// What a custom token may not claim for its user: what the token says of itself.
  private static let reserved: Set<String> = [
    "acr", "amr", "aud", "auth_time", "azp", "exp", "firebase", "iat", "iss", "jti", "nbf", "nonce", "sub",
  ]

  /// - Throws: a clause that names the member.
  init(_ entry: JSONValue) throws(CheckedIssuer.Malformed) {
    typealias Malformed = CheckedIssuer.Malformed
    guard let object = entry.object else { throw Malformed(description: "is not an object") }
    if let other = object.keys.first(where: { !Self.members.contains($0) }) {
      throw Malformed(description: "has the member \"\(other)\", which does not exist")
    }
    guard let text = object["secret"]?.string, let secret = Base64URL.decode(text.utf8), secret.count >= 32 else {
      throw Malformed(description: "needs \"secret\" as base64url of at least 32 bytes")
    }
    self.secret = secret
    guard let issuer = (object["issuer"] ?? "martlet").string, !issuer.isEmpty else {
      throw Malformed(description: "needs \"issuer\" as text")
    }
    self.issuer = issuer
    guard let lifetime = (object["lifetime"] ?? 3_600).int, (60...86_400).contains(lifetime) else {
      throw Malformed(description: "needs \"lifetime\" as seconds from 60 to 86400")
    }
    self.lifetime = lifetime
    guard let allowsAnonymous = (object["anonymous"] ?? false).bool else {
      throw Malformed(description: "needs \"anonymous\" as true or false")
    }
    self.allowsAnonymous = allowsAnonymous
    custom = try object["custom"].map { entry throws(Malformed) in
      guard entry["keys"] != nil else { throw Malformed(description: "needs \"keys\" in \"custom\"") }
      return try TokenIssuer(entry, reading: nil)
    }
    guard allowsAnonymous || custom != nil else {
      throw Malformed(description: "allows neither \"anonymous\" nor \"custom\"")
    }
    if let custom { _ = try CheckedIssuer(custom) }
  }

  /// The issuer of its tokens, as the server accepts them.
  var tokens: TokenIssuer {
    let key: JSONValue = [
      "kty": "oct", "alg": "HS256", "kid": "sign-in",
      "k": .string(String(decoding: Base64URL.encode(secret), as: UTF8.self)),
    ]
    var tokens = TokenIssuer(issuer: issuer, keys: .set(String(decoding: key.serialized(), as: UTF8.self)))
    tokens.algorithms = ["HS256"]
    return tokens
  }

  /// A token for a user; nil when the library refuses the secret.
  ///
  /// - Parameters:
  ///   - provider: how the user signed in: `anonymous` or `custom`, which rules see as `auth.provider`.
  ///   - claims: of the user, which rules see as `auth.token`.
  ///   - seconds: since 1970.
  func token(for user: String, provider: String, claims: JSONObject, at seconds: Int64) -> String? {
    var payload = claims
    payload["iss"] = .string(issuer)
    payload["sub"] = .string(user)
    payload["iat"] = .int(seconds)
    payload["exp"] = .int(seconds + lifetime)
    payload["firebase"] = ["sign_in_provider": .string(provider)]
    let head: JSONValue = ["alg": "HS256", "typ": "JWT", "kid": "sign-in"]
    let dot = UInt8(ascii: ".")
    let message =
      Base64URL.encode(head.serialized()) + [dot] + Base64URL.encode(JSONValue.object(payload).serialized())
    guard let code = MessageCode.sha256(of: message, by: secret) else { return nil }
    return String(decoding: message + [dot] + Base64URL.encode(code), as: UTF8.self)
  }

  /// A claim that a custom token may not have.
  static func reservedClaim(in claims: JSONObject) -> String? { claims.keys.first { reserved.contains($0) } }
}
