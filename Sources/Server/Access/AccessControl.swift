package import MartletAccess
package import MartletJSON
internal import MartletRuntime

/// Which credentials the server accepts: any on the loopback network in development, else API keys, or what the program
/// decides.
///
/// Keys are random and long, so a plain SHA-256 of each is kept; comparison takes the same time wherever the first
/// difference is. Keys can be replaced while the server runs.
package final class AccessControl: Sendable {
  package enum Mode: Sendable {
    case development
    case keys(APIKeyRing)
    /// `onConnect` decides alone.
    case program
  }

  /// What can be replaced while the server runs, together.
  private struct Policy {
    var mode: Mode
    var origins: OriginCheck
  }

  private let policy: Lock<Policy>
  private let digest: @Sendable ([UInt8]) -> [UInt8]
  /// Time since 1970, by which keys expire.
  private let now: @Sendable () -> Duration
  /// Members of a `connection_init` payload, or of AppSync's authorization, that may hold a key; lower case.
  private let members: [String]
  private let memberNames: [String]

  /// The members looked at by default.
  package static let defaultMembers = ["x-api-key", "Authorization", "authToken"]

  /// - Parameters:
  ///   - digest: computes SHA-256.
  ///   - now: time since 1970.
  package init(
    _ mode: Mode, origins: OriginCheck, members: [String] = AccessControl.defaultMembers,
    digest: @escaping @Sendable ([UInt8]) -> [UInt8], now: @escaping @Sendable () -> Duration = WallClock.sinceEpoch
  ) {
    self.members = members.map { $0.lowercased() }
    memberNames = members
    policy = Lock(Policy(mode: mode, origins: origins))
    self.digest = digest
    self.now = now
  }

  private var mode: Mode { policy.withLock { $0.mode } }
  package var origins: OriginCheck { policy.withLock { $0.origins } }

  package var isDevelopment: Bool {
    if case .development = mode { true } else { false }
  }

  /// What admitted a client.
  package enum Grant: Sendable, Hashable {
    /// No key is needed.
    case development
    case key(APIKey)
    /// Credentials are the program's affair.
    case program
  }

  /// Puts another access file in force, all of it at once. Sessions that a withdrawn key admitted have to be judged
  /// again by `isGood`.
  ///
  /// - Returns: false, with nothing changed, for a server whose access is not by API keys.
  package func replace(keys: APIKeyRing, origins: Set<String>?) -> Bool {
    policy.withLock { policy in
      guard case .keys = policy.mode else { return false }
      policy = Policy(mode: .keys(keys), origins: OriginCheck(.origins(origins)))
      return true
    }
  }

  /// The grant of a request, from its headers; nil when its credentials are not accepted.
  package func grant(apiKey: String?, authorization: String?) -> Grant? {
    switch mode {
    case .development: return .development
    case .program: return .program
    case .keys(let keys):
      guard let given = apiKey ?? authorization.flatMap(Self.bearer) else { return nil }
      switch keys.find(digest(Array(given.utf8)), at: now()) {
      case .accepted(let key): return .key(key)
      case .expired, .unknown: return nil
      }
    }
  }

  /// The grant of a socket, from the payload of its `connection_init` or from AppSync's authorization: each of the
  /// configured members may hold a key, with or without `Bearer`.
  package func grant(payload: JSONObject?) -> Grant? {
    for (name, value) in payload ?? JSONObject() where members.contains(name.lowercased()) {
      if let text = value.string, let grant = grant(apiKey: nil, authorization: text) { return grant }
    }
    return grant(apiKey: nil, authorization: nil)
  }

  /// Whether what admitted a client would still do so.
  package func isGood(_ grant: Grant) -> Bool {
    switch (grant, mode) {
    case (.key(let key), .keys(let keys)): keys.stillAccepts(key, at: now())
    case (.development, .development), (.key, .development), (.program, .program): true
    case (.development, .keys), (.development, .program), (.key, .program), (.program, .keys), (.program, .development):
      false
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
}
