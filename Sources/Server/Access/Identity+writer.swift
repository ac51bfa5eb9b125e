package import MartletAccess
internal import MartletJSON

extension Identity {
  /// The owner of a caller's numbered writes: the provider, the issuer of the token, and the caller's name there. Empty
  /// for callers without a name; their clients' random names keep them apart.
  package var writer: String {
    guard let subject else { return "" }
    let parts: JSONValue = [.string(provider.rawValue), claims["iss"] ?? .null, .string(subject)]
    return String(decoding: parts.serialized(), as: UTF8.self)
  }
}
