package import MartletJSON

/// An API key as the access file keeps it: by the digest of its text only.
///
/// Keys are 256 random bits, so that one SHA-256 of each is enough: there is nothing to guess.
package struct APIKey: Sendable, Hashable {
  /// What operators and rules call it; unique in a file.
  package var name: String
  /// SHA-256 of the key's text.
  package var digest: [UInt8]
  package var scope: AccessScope
  /// When it stops being accepted, as time since 1970; nil for never.
  package var expires: Duration?
  /// Whether its callers may ask for the schema; nil for what the server's configuration says.
  package var introspection: Bool?

  package init(
    name: String, digest: [UInt8], scope: AccessScope = .everything, expires: Duration? = nil,
    introspection: Bool? = nil
  ) {
    self.name = name
    self.digest = digest
    self.scope = scope
    self.expires = expires
    self.introspection = introspection
  }

  /// The identity of a caller that shows the key.
  package var identity: Identity {
    var identity = Identity(provider: .apiKey, subject: name, expires: expires)
    identity.scope = scope
    return identity
  }
}

extension APIKey {
  /// What is wrong with an entry of the access file.
  package struct Malformed: Error, Sendable, Hashable, CustomStringConvertible {
    /// A clause that follows the entry's place, such as `has no "name"`.
    package let description: String
  }

  /// Reads an entry of the access file's `keys`.
  ///
  /// ```json
  /// { "name": "board", "sha256": "9f86…", "operations": ["read"], "models": ["Flight"], "expires": 1893456000 }
  /// ```
  package init(_ entry: JSONValue) throws(Malformed) {
    guard let object = entry.object else { throw Malformed(description: "is not an object") }
    let known = ["name", "sha256", "operations", "models", "expires", "introspection"]
    // A misspelt "models" would otherwise be a key for all of them.
    if let other = object.keys.first(where: { !known.contains($0) }) {
      throw Malformed(description: "has the member \"\(other)\", which does not exist")
    }
    guard let name = object["name"]?.string, !name.isEmpty else { throw Malformed(description: "has no \"name\"") }
    guard let digest = object["sha256"]?.string.flatMap(Self.bytes), digest.count == 32 else {
      throw Malformed(description: "(\(name)) needs \"sha256\": 64 hexadecimal digits")
    }
    self.init(name: name, digest: digest)
    if let value = object["operations"] { scope.operations = try Self.operations(value, name) }
    if let value = object["models"] { scope.models = try Self.names(value, "models", name) }
    if let value = object["expires"] {
      guard let seconds = value.int, seconds > 0, seconds <= Self.farthest else {
        throw Malformed(description: "(\(name)) needs \"expires\" as whole seconds since 1970")
      }
      expires = .seconds(seconds)
    }
    if let value = object["introspection"] {
      guard let allowed = value.bool else {
        throw Malformed(description: "(\(name)) needs \"introspection\" as true or false")
      }
      introspection = allowed
    }
  }

  /// The year 9999: later times are mistakes, such as milliseconds.
  package static let farthest: Int64 = 253_402_300_799

  private static func names(_ value: JSONValue, _ member: String, _ key: String) throws(Malformed) -> [String] {
    guard let list = value.array, !list.isEmpty else {
      throw Malformed(description: "(\(key)) needs \"\(member)\" as a list with names, or not at all")
    }
    var names: [String] = []
    for entry in list {
      guard let name = entry.string else {
        throw Malformed(description: "(\(key)) has a name in \"\(member)\" that is not text")
      }
      names.append(name)
    }
    return names
  }

  private static func operations(_ value: JSONValue, _ key: String) throws(Malformed) -> Set<AccessOperation> {
    var operations: Set<AccessOperation> = []
    for name in try names(value, "operations", key) {
      guard let named = AccessOperation.named(name) else {
        throw Malformed(description: "(\(key)) names the operation \"\(name)\", which does not exist")
      }
      operations.formUnion(named)
    }
    return operations
  }

  private static func bytes(_ hexadecimal: String) -> [UInt8]? {
    let digits = Array(hexadecimal.utf8)
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digit(digits[index]), let low = digit(digits[index + 1]) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// The entry for the access file.
  package var entry: JSONObject {
    var entry: JSONObject = ["name": .string(name), "sha256": .string(Self.hexadecimal(digest))]
    if scope.operations != Set(AccessOperation.allCases) {
      // In the order of their declaration, and with the short name of what belongs together.
      let reads = scope.operations.isSuperset(of: AccessOperation.reads)
      let rest = AccessOperation.allCases.filter {
        scope.operations.contains($0) && !(reads && AccessOperation.reads.contains($0))
      }
      entry["operations"] = .array(rest.map { .string($0.rawValue) } + (reads ? [.string("read")] : []))
    }
    if let models = scope.models { entry["models"] = .array(models.map { .string($0) }) }
    if let expires { entry["expires"] = .int(expires.components.seconds) }
    if let introspection { entry["introspection"] = .bool(introspection) }
    return entry
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
