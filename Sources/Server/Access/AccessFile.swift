internal import MartletAccess
internal import MartletJSON

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
///   "origins": [ "https://board.example" ]
/// }
/// ```
///
/// Credentials are tried in that order: API keys, tokens, then the custom authorizer (`HTTPAuthorizer`); signatures
/// of `signing` (`SigningKey`) stand in the place of a token. Callers that show none are admitted as guests where
/// `guests` is true; credentials that are not accepted are refused in any case. A key's `expires` is in seconds since
/// 1970; a key without it is accepted until it is removed from the file. A key's `introspection`, `true` or `false`,
/// says whether its callers may ask for the schema, whatever the server's configuration says.
public struct AccessFile: Sendable {
  let keys: APIKeyRing
  let issuers: [CheckedIssuer]
  let authorizer: HTTPAuthorizer?
  let signing: [SigningKey]
  let allowsGuests: Bool
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
  /// - Throws: `Malformed`, naming the issuer or the authorizer.
  public init(
    issuers: [TokenIssuer] = [], authorizer: HTTPAuthorizer? = nil, signing: [SigningKey] = [],
    allowsGuests: Bool = false,
    origins: Set<String>? = nil
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
    self.origins = origins
  }

  /// Reads the file's text.
  ///
  /// - Throws: `Malformed`, naming the entry.
  public init(_ text: String) throws(Malformed) {
    let root: JSONValue
    do {
      root = try JSONValue(parsing: text)
    } catch {
      throw Malformed(description: "The access file is not JSON: \(error.description).")
    }
    guard let members = root.object else {
      throw Malformed(description: "The access file is not an object with \"keys\", \"tokens\" and \"origins\".")
    }
    if let unknown = members.first(where: {
      !["keys", "tokens", "authorizer", "signing", "guests", "origins"].contains($0.key)
    }) {
      throw Malformed(description: "The access file has \"\(unknown.key)\", which means nothing here.")
    }
    keys = try Self.keys(members["keys"])
    issuers = try Self.issuers(members["tokens"])
    authorizer = try Self.authorizer(members["authorizer"])
    signing = try Self.signing(members["signing"])
    allowsGuests = members["guests"]?.bool ?? false
    if let guests = members["guests"], guests.bool == nil {
      throw Malformed(description: "\"guests\" must be true or false.")
    }
    guard !keys.keys.isEmpty || !issuers.isEmpty || authorizer != nil || !signing.isEmpty || allowsGuests else {
      throw Malformed(
        description:
          "The access file has neither \"keys\" nor \"tokens\" nor \"authorizer\", so every request would be refused.")
    }
    origins = try Self.origins(members["origins"])
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

  private static func issuers(_ value: JSONValue?) throws(Malformed) -> [CheckedIssuer] {
    if let value, value.array == nil { throw Malformed(description: "\"tokens\" must be a list.") }
    var issuers: [TokenIssuer] = []
    for (index, entry) in (value?.array ?? []).enumerated() {
      do {
        issuers.append(try TokenIssuer(entry))
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
