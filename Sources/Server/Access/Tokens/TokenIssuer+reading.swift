internal import MartletAccess
internal import MartletJSON
internal import MartletTokens

/// An issuer whose description has been found to make sense.
struct CheckedIssuer: Sendable {
  enum Keys: Sendable {
    case fixed(TokenKeySet)
    case published(KeySetMachine<KeyWaiter>.Source)
  }

  let description: TokenIssuer
  var policy: TokenPolicy
  let keys: Keys

  /// Why an issuer cannot be served.
  struct Malformed: Error, CustomStringConvertible {
    /// A clause that follows the issuer's place.
    let description: String
  }

  init(_ issuer: TokenIssuer) throws(Malformed) {
    var algorithms: [TokenAlgorithm] = []
    for name in issuer.algorithms ?? TokenAlgorithm.allCases.map(\.rawValue) {
      guard let algorithm = TokenAlgorithm(rawValue: name) else {
        throw Malformed(description: "names the algorithm \(TokenRefusal.quoted(name)), which is not implemented")
      }
      algorithms.append(algorithm)
    }
    guard !algorithms.isEmpty else { throw Malformed(description: "accepts no algorithm") }
    description = issuer
    policy = TokenPolicy(
      issuer: issuer.issuer, audiences: issuer.audiences, required: issuer.requiredClaims, skew: issuer.skew,
      maximumAge: issuer.maximumAge, algorithms: algorithms)
    switch issuer.keys {
    case .set(let text): keys = .fixed(try Self.fixed(text, algorithms))
    case .url(let text):
      do {
        keys = .published(.keySet(try KeySetAddress(text)))
      } catch {
        throw Malformed(description: "has a key set that is not used: \(error.description)")
      }
    case .discovery:
      guard let name = issuer.issuer else {
        throw Malformed(description: "has neither \"issuer\" nor keys: there is nothing to discover")
      }
      do {
        keys = .published(.discovery(issuer: name, try KeySetAddress.discovery(of: name)))
      } catch {
        throw Malformed(description: "has an issuer that cannot be asked for its keys: \(error.description)")
      }
    }
  }

  private static func fixed(_ text: String, _ algorithms: [TokenAlgorithm]) throws(Malformed) -> TokenKeySet {
    let set: TokenKeySet
    do {
      set = try TokenKeySet(Array(text.utf8), algorithms: algorithms, origin: .file)
    } catch {
      throw Malformed(description: "has no keys: \(error.description)")
    }
    guard !set.keys.isEmpty else {
      let reason = set.refused.first.map { ": \($0.reason.description)" } ?? ""
      throw Malformed(description: "has no key that can be used\(reason)")
    }
    return set
  }
}

extension TokenIssuer {
  private static let members = [
    "issuer", "audience", "keys", "keysFile", "jwks", "algorithms", "groupsClaim", "required", "skew", "maximumAge",
  ]

  /// Reads an entry of the access file's `tokens`.
  ///
  /// ```json
  /// { "issuer": "https://login.example", "audience": ["board"], "jwks": "https://login.example/keys" }
  /// ```
  ///
  /// `keys` has a key set in place, `keysFile` names a file that has it; without them and `jwks` the issuer's discovery
  /// document names the key set.
  ///
  /// - Parameter file: Reads a file that the entry names.
  init(_ entry: JSONValue, reading file: AccessFile.Reading?) throws(CheckedIssuer.Malformed) {
    typealias Malformed = CheckedIssuer.Malformed
    guard let object = entry.object else { throw Malformed(description: "is not an object") }
    if let other = object.keys.first(where: { !Self.members.contains($0) }) {
      throw Malformed(description: "has the member \"\(other)\", which does not exist")
    }
    let keys: Keys
    let given = ["keys", "keysFile", "jwks"].filter { object[$0] != nil }
    guard given.count <= 1 else { throw Malformed(description: "has both \"\(given[0])\" and \"\(given[1])\"") }
    if let set = object["keys"] {
      keys = .set(String(decoding: set.serialized(), as: UTF8.self))
    } else if let path = try Self.text(object, "keysFile") {
      keys = .set(try Self.contents(of: path, reading: file))
    } else if let url = object["jwks"] {
      guard let url = url.string else { throw Malformed(description: "needs \"jwks\" as the address of a key set") }
      keys = .url(url)
    } else {
      keys = .discovery
    }
    self.init(issuer: try Self.text(object, "issuer"), keys: keys)
    audiences = try Self.texts(object, "audience")
    algorithms = try Self.texts(object, "algorithms")
    groupsClaim = try Self.text(object, "groupsClaim")
    if let required = try Self.texts(object, "required") { requiredClaims = required }
    if let skew = try Self.seconds(object, "skew") { self.skew = skew }
    maximumAge = try Self.seconds(object, "maximumAge")
  }

  private static func contents(
    of path: String, reading file: AccessFile.Reading?
  ) throws(CheckedIssuer.Malformed) -> String {
    guard let file else {
      throw CheckedIssuer.Malformed(description: "names the file \(path), which nothing reads here")
    }
    do { return try file(path) } catch {
      throw CheckedIssuer.Malformed(description: "has a key set in a file that cannot be used (\(error))")
    }
  }

  private static func text(_ object: JSONObject, _ name: String) throws(CheckedIssuer.Malformed) -> String? {
    guard let value = object[name] else { return nil }
    guard let text = value.string, !text.isEmpty else {
      throw CheckedIssuer.Malformed(description: "needs \"\(name)\" as text")
    }
    return text
  }

  private static func texts(_ object: JSONObject, _ name: String) throws(CheckedIssuer.Malformed) -> [String]? {
    guard let value = object[name] else { return nil }
    if let text = value.string { return [text] }
    guard let list = value.array?.compactMap(\.string), list.count == value.array?.count else {
      throw CheckedIssuer.Malformed(description: "needs \"\(name)\" as text or a list of texts")
    }
    return list
  }

  private static func seconds(_ object: JSONObject, _ name: String) throws(CheckedIssuer.Malformed) -> Duration? {
    guard let value = object[name] else { return nil }
    guard let seconds = value.int, (0...1 << 31).contains(seconds) else {
      throw CheckedIssuer.Malformed(description: "needs \"\(name)\" as whole seconds")
    }
    return .seconds(seconds)
  }
}
