internal import MartletJSON

/// What the source of a key set sent.
package struct KeySetAnswer: Sendable, Hashable {
  package var status: Int
  /// The `Cache-Control` field, where there is one.
  package var cacheControl: String?
  /// The `Age` field, where there is one: how long a cache has had the answer.
  package var age: String?
  package var body: [UInt8]

  package init(status: Int, cacheControl: String? = nil, age: String? = nil, body: [UInt8]) {
    self.status = status
    self.cacheControl = cacheControl
    self.age = age
    self.body = body
  }

  /// For how long the answer may be used without another look; nil where it does not say.
  var freshness: Duration? {
    guard let cacheControl else { return nil }
    var seconds: Int64?
    for part in cacheControl.lowercased().split(separator: ",") {
      let words = part.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " && $0 != "\t" && $0 != "\"" } }
      switch words.first {
      case "no-store"?, "no-cache"?: return .zero
      case "max-age"?:
        // Digits only: a value that is none says nothing, one that is too large means a long time.
        guard let text = words.dropFirst().first, !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { continue }
        seconds = Int64(text) ?? 1 << 31
      default: continue
      }
    }
    guard let seconds else { return nil }
    let spent = age.flatMap { Int64($0) } ?? 0
    return .seconds(max(0, min(seconds, 1 << 31) - max(0, spent)))
  }

  /// The address of the key set in a discovery document.
  func keySetAddress(issuer: String, limits: KeySetLimits) throws(KeySetFailure) -> KeySetAddress {
    guard body.count <= limits.discoveryBytes else { throw .tooLarge(body.count) }
    var bounds = JSONLimits()
    bounds.depth = 16
    guard let document = try? JSONValue(parsing: body, limits: bounds), let object = document.object else {
      throw .malformedDiscovery("it is not a JSON object")
    }
    // The document must be the issuer's own (section 4.3): another's would put another's keys in its place.
    guard let claimed = object["issuer"]?.string, claimed.hasSameBytes(as: issuer) else {
      throw .malformedDiscovery("its \"issuer\" is another one")
    }
    guard let text = object["jwks_uri"]?.string else { throw .malformedDiscovery("it has no \"jwks_uri\"") }
    do {
      return try KeySetAddress(text)
    } catch {
      throw .malformedDiscovery("its \"jwks_uri\" is not used: \(error.description)")
    }
  }

  /// The key set that the answer is.
  func keySet(algorithms: [TokenAlgorithm], limits: KeySetLimits) throws(KeySetFailure) -> TokenKeySet {
    guard body.count <= limits.keySetBytes else { throw .tooLarge(body.count) }
    let set: TokenKeySet
    do {
      set = try TokenKeySet(body, algorithms: algorithms, origin: .published, limits: limits)
    } catch {
      throw .malformedKeySet(error)
    }
    guard !set.keys.isEmpty else { throw .noUsableKey }
    return set
  }
}

/// Why a fetch brought no keys.
package enum KeySetFailure: Error, Sendable, Hashable {
  /// The source could not be reached, or broke off.
  case unreachable(String)
  case timedOut
  /// Any status but 200; redirections are not followed, since they could lead anywhere.
  case status(Int)
  case tooLarge(Int)
  case malformedDiscovery(String)
  case malformedKeySet(TokenKeySet.Malformed)
  /// A set without a key that can be used is taken for a mistake: the last good one stays.
  case noUsableKey
}

extension KeySetFailure: CustomStringConvertible {
  /// A clause for an operator.
  package var description: String {
    switch self {
    case .unreachable(let reason): "it cannot be reached: \(reason)"
    case .timedOut: "it did not answer in time"
    case .status(let status): "it answered with the status \(status)"
    case .tooLarge(let count): "its answer has \(count) bytes, which is too large"
    case .malformedDiscovery(let reason): "its discovery document is not used: \(reason)"
    case .malformedKeySet(let reason): reason.description
    case .noUsableKey: "its key set has no key that can be used"
    }
  }
}
