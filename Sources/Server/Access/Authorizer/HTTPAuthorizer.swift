internal import MartletAccess
internal import MartletJSON
internal import MartletTokens

/// A custom authorizer: an HTTP endpoint that decides about credentials that are neither an API key nor a token of a
/// configured issuer.
///
/// ```swift
/// configuration.access = .keys(try AccessFile(authorizer: HTTPAuthorizer(url: "https://login.example/authorize")))
/// ```
///
/// It is sent `POST` with `{"authorizationToken": "…"}` and answers as AppSync's function authorizers do, with the
/// identity beside it:
///
/// ```json
/// { "isAuthorized": true, "subject": "ada", "groups": ["staff"], "claims": {}, "expires": 1893456000,
///   "ttlOverride": 60 }
/// ```
///
/// The caller has the provider `function`, to which `@auth` rules with `allow: custom` apply. An answer that takes
/// longer than `timeout`, that redirects, or that is anything else refuses the caller.
public struct HTTPAuthorizer: Sendable, Hashable {
  /// The endpoint: `https`, or `http` on this machine.
  public var url: String
  /// How long an answer may take, the wait for a free request included.
  public var timeout = Duration.seconds(5)
  /// How long an answer is used again for the same credential, where it has no `ttlOverride`; never longer than its
  /// `expires`. Zero asks about each request and connection.
  public var cacheTime = Duration.seconds(300)

  /// An authorizer at an address, everything else by default.
  public init(url: String) {
    self.url = url
  }

  /// Why an authorizer cannot be used.
  struct Malformed: Error {
    /// A clause that follows `"authorizer"`.
    let description: String
  }

  /// Reads the access file's `authorizer`.
  init(_ entry: JSONValue) throws(Malformed) {
    guard let members = entry.object else { throw Malformed(description: "is not an object with \"url\"") }
    if let other = members.keys.first(where: { !["url", "timeout", "cache"].contains($0) }) {
      throw Malformed(description: "has the member \"\(other)\", which does not exist")
    }
    guard let url = members["url"]?.string else { throw Malformed(description: "has no \"url\"") }
    self.init(url: url)
    if let value = members["timeout"] { timeout = try Self.seconds(value, "timeout", 1...60) }
    if let value = members["cache"] { cacheTime = try Self.seconds(value, "cache", 0...86_400) }
  }

  private static func seconds(
    _ value: JSONValue, _ name: String, _ range: ClosedRange<Int64>
  ) throws(Malformed) -> Duration {
    guard let seconds = value.int, range.contains(seconds) else {
      throw Malformed(
        description: "needs \"\(name)\" as whole seconds from \(range.lowerBound) to \(range.upperBound)")
    }
    return .seconds(seconds)
  }

  /// The address, checked as that of a key set is: it decides as much.
  func address() throws(Malformed) -> KeySetAddress {
    do {
      return try KeySetAddress(url)
    } catch {
      throw Malformed(description: "has a \"url\" that is not used: \(error.description)")
    }
  }

  /// The server's bounds with what the access file says about this authorizer.
  func limits(_ limits: AuthorizerLimits) -> AuthorizerLimits {
    var limits = limits
    limits.answerTimeout = timeout
    limits.cacheTime = cacheTime
    return limits
  }
}
