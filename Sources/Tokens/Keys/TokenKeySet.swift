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
    case tooManyKeys(Int)

    package var description: String {
      switch self {
      case .notJSON(let reason): "the key set is not JSON: \(reason)"
      case .noKeys: "the key set has no list \"keys\""
      case .tooManyKeys(let count): "the key set has \(count) keys, and \(TokenKeySet.mostKeys) are the most"
      }
    }
  }

  /// Keys in one set. Providers publish two to ten; more would only cost memory and time at every token without `kid`.
  package static let mostKeys = 100

  /// A set of keys that were read elsewhere.
  package init(keys: [TokenKey]) {
    self.keys = keys
  }

  /// Reads a key set. A file may also hold one single key.
  ///
  /// - Throws: why it is not a key set. Unusable keys are in `refused` and throw nothing.
  package init(_ bytes: [UInt8], algorithms: [TokenAlgorithm], origin: Origin) throws(Malformed) {
    var limits = JSONLimits()
    limits.depth = 16
    let document: JSONValue
    do {
      document = try JSONValue(parsing: bytes, limits: limits)
    } catch {
      throw .notJSON(error.description)
    }
    if origin == .file, document["kty"] != nil {
      read([document], algorithms, origin)
      return
    }
    guard let list = document["keys"]?.array else { throw .noKeys }
    guard list.count <= Self.mostKeys else { throw .tooManyKeys(list.count) }
    read(list, algorithms, origin)
  }

  private mutating func read(_ list: [JSONValue], _ algorithms: [TokenAlgorithm], _ origin: Origin) {
    for (position, value) in list.enumerated() {
      do throws(KeyRefusal) {
        let key = try TokenKey(value, algorithms: algorithms)
        if origin == .published, case .secret = key.material { throw KeyRefusal.publishedSecret }
        keys.append(key)
      } catch {
        refused.append(Refused(position: position, id: value["kid"]?.string, reason: error))
      }
    }
  }
}
