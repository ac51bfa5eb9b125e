package import MartletJSON
internal import MartletRuntime

/// Who may use the server: everybody on the loopback network in development, else holders of an API key.
///
/// Keys are random and long, so a plain SHA-256 of each is kept; comparison takes the same time wherever the first
/// difference is. Keys can be replaced while the server runs.
package final class AccessControl: Sendable {
  package enum Mode: Sendable {
    case development
    case keys([APIKey])
  }

  /// One key as the configuration names it.
  package struct APIKey: Sendable, Hashable {
    package var name: String
    /// SHA-256 of the key's text.
    package var digest: [UInt8]

    package init(name: String, digest: [UInt8]) {
      self.name = name
      self.digest = digest
    }
  }

  private let mode: Lock<Mode>
  private let digest: @Sendable ([UInt8]) -> [UInt8]
  package let origins: OriginCheck
  /// Members of a `connection_init` payload, or of AppSync's authorization, that may hold a key; lower case.
  private let members: [String]
  private let memberNames: [String]

  /// The members looked at by default.
  package static let defaultMembers = ["x-api-key", "Authorization", "authToken"]

  /// `digest` computes SHA-256.
  package init(
    _ mode: Mode, origins: OriginCheck, members: [String] = AccessControl.defaultMembers,
    digest: @escaping @Sendable ([UInt8]) -> [UInt8]
  ) {
    self.members = members.map { $0.lowercased() }
    memberNames = members
    self.mode = Lock(mode)
    self.origins = origins
    self.digest = digest
  }

  package var isDevelopment: Bool {
    mode.withLock { if case .development = $0 { true } else { false } }
  }

  /// What let a client in.
  package enum Grant: Sendable, Hashable {
    /// Nobody needs a key.
    case development
    case key(APIKey)
  }

  /// Puts other keys in force. Who holds open what a withdrawn key let in asks `isGood` again.
  package func replace(keys: [APIKey]) {
    mode.withLock { mode in
      if case .keys = mode { mode = .keys(keys) }
    }
  }

  /// What lets a request in, from its headers; nil when nothing does.
  package func grant(apiKey: String?, authorization: String?) -> Grant? {
    switch mode.withLock({ $0 }) {
    case .development: return .development
    case .keys(let keys):
      guard let given = apiKey ?? authorization.flatMap(Self.bearer) else { return nil }
      return Self.find(digest(Array(given.utf8)), in: keys).map { .key($0) }
    }
  }

  /// What lets a socket in, from the payload of its `connection_init` or from AppSync's authorization: each of the
  /// configured members may hold a key, with or without `Bearer`.
  package func grant(payload: JSONObject?) -> Grant? {
    for (name, value) in payload ?? JSONObject() where members.contains(name.lowercased()) {
      if let text = value.string, let grant = grant(apiKey: nil, authorization: text) { return grant }
    }
    return grant(apiKey: nil, authorization: nil)
  }

  /// Whether what let a client in would still do so.
  package func isGood(_ grant: Grant) -> Bool {
    switch (grant, mode.withLock { $0 }) {
    case (.key(let key), .keys(let keys)): Self.find(key.digest, in: keys) != nil
    case (.development, .development), (.key, .development): true
    case (.development, .keys): false
    }
  }

  /// What a request shows under the configured names, in the form a socket's payload has.
  package func credentials(_ field: (String) -> String?) -> JSONObject {
    var found = JSONObject()
    for name in memberNames {
      if let value = field(name) { found[name] = .string(value) }
    }
    return found
  }

  private static func bearer(_ header: String) -> String? {
    let prefix = "bearer "
    return header.lowercased().hasPrefix(prefix) ? String(header.dropFirst(prefix.count)) : header
  }

  /// Looks at every key and every byte, whatever it finds.
  private static func find(_ digest: [UInt8], in keys: [APIKey]) -> APIKey? {
    var found: APIKey?
    for key in keys {
      var difference: UInt8 = key.digest.count == digest.count ? 0 : 1
      for (a, b) in zip(key.digest, digest) { difference |= a ^ b }
      if difference == 0 { found = key }
    }
    return found
  }
}
