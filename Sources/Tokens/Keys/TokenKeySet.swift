internal import MartletJSON

/// The keys of a JSON Web Key Set (RFC 7517, section 5).
///
/// A key that cannot be used does not spoil the others, as the specification asks; it is kept with the reason, so that
/// a token which names it is refused with that reason.
package struct TokenKeySet: Sendable, Hashable {
  /// A key that is not used.
  package struct Refused: Sendable, Hashable {
    /// Position in the set, from 0.
    package let position: Int
    /// `kid`, where it is a string.
    package let id: String?
    package let reason: KeyRefusal
  }

  package private(set) var keys: [TokenKey] = []
  package private(set) var refused: [Refused] = []

  /// Where a set comes from decides what it may contain.
  package enum Origin: Sendable, Hashable {
    /// A file of the operator's.
    case file
    /// A URL that any client can read: shared secrets are refused.
    case published
  }

  /// Why a document is not a key set at all.
  package enum Malformed: Error, Sendable, Hashable, CustomStringConvertible {
    case notJSON(String)
    /// Neither an object with a list "keys" nor a single key.
    case noKeys
    case tooManyKeys(Int, most: Int)

    package var description: String {
      switch self {
      case .notJSON(let reason): "the key set is not JSON: \(reason)"
      case .noKeys: "the key set has no list \"keys\""
      case .tooManyKeys(let count, let most): "the key set has \(count) keys, and \(most) are the most"
      }
    }
  }

  /// A set of keys that were read elsewhere.
  package init(keys: [TokenKey]) {
    self.keys = keys
  }

  /// Reads a key set. A file may also hold one single key.
  ///
  /// - Parameter limits: The bounds of a published set. A file is the operator's own, and has none.
  /// - Throws: why it is not a key set. Unusable keys are in `refused` and throw nothing.
  package init(
    _ bytes: [UInt8], algorithms: [TokenAlgorithm], origin: Origin, limits bounds: KeySetLimits = KeySetLimits()
  ) throws(Malformed) {
    var limits = JSONLimits()
    limits.depth = 16
    let document: JSONValue
    do {
      document = try JSONValue(parsing: bytes, limits: limits)
    } catch {
      throw .notJSON(error.description)
    }
    if origin == .file, document["kty"] != nil {
      read([document], algorithms, origin, bounds)
      return
    }
    guard let list = document["keys"]?.array else { throw .noKeys }
    guard origin == .file || list.count <= bounds.keys else { throw .tooManyKeys(list.count, most: bounds.keys) }
    read(list, algorithms, origin, bounds)
  }

  private mutating func read(
    _ list: [JSONValue], _ algorithms: [TokenAlgorithm], _ origin: Origin, _ bounds: KeySetLimits
  ) {
    for (position, value) in list.enumerated() {
      do throws(KeyRefusal) {
        let key = try TokenKey(value, algorithms: algorithms)
        if origin == .published { try Self.checkPublished(key, bounds) }
        keys.append(key)
      } catch {
        refused.append(Refused(position: position, id: value["kid"]?.string, reason: error))
      }
    }
  }

  private static func checkPublished(_ key: TokenKey, _ bounds: KeySetLimits) throws(KeyRefusal) {
    switch key.material {
    case .secret: throw .publishedSecret
    case .rsa(let modulus, _):
      let bits = RSAModulus.bitCount(modulus)
      guard bits <= bounds.keyBits else { throw .longModulus(bits: bits, most: bounds.keyBits) }
    case .point, .ed25519: break
    }
  }
}
