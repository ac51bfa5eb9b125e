import MartletHTTPWire
import MartletRuntime

/// What a redirect of a query comes to. The request is sent again as it is, so that 303, which asks for a GET of
/// something else, is not followed.
enum Redirect {
  case to(GraphQLEndpoint)
  /// It is not followed, for this reason.
  case refused(String)

  /// Nil for a response that is not a redirect.
  init?(_ head: HTTPResponseHead, from endpoint: GraphQLEndpoint) {
    guard [301, 302, 307, 308].contains(head.status), let location = head.headers["Location"] else { return nil }
    let next: GraphQLEndpoint
    do throws(GraphQLClientError) {
      // A fragment is for the client alone, and no request has one.
      next = try Self.resolve(String(location.prefix { $0 != "#" }), at: endpoint)
    } catch {
      self = .refused("a redirect that cannot be followed: \(error.message)")
      return
    }
    guard next.isSecure || !endpoint.isSecure else {
      self = .refused("a redirect from https to http is not followed: \(next.displayURL)")
      return
    }
    self = .to(next)
  }

  /// What a reference names when this endpoint has answered with it (RFC 3986, section 5.2).
  private static func resolve(
    _ reference: String, at base: GraphQLEndpoint
  ) throws(GraphQLClientError) -> GraphQLEndpoint {
    guard reference.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw GraphQLClientError(.invalidRequest, "a space or a letter beyond ASCII in \(reference)")
    }
    if reference.hasPrefix("//") { return try GraphQLEndpoint("\(base.isSecure ? "https" : "http"):\(reference)") }
    if reference.prefix(while: { $0 != "/" && $0 != "?" }).contains(":") { return try GraphQLEndpoint(reference) }
    let path = base.target.prefix { $0 != "?" }
    var next = base
    if reference.hasPrefix("/") {
      next.target = withoutDots(reference)
    } else if reference.hasPrefix("?") {
      next.target = path + reference
    } else if !reference.isEmpty {
      let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "/"
      next.target = withoutDots(folder + reference)
    }
    return next
  }

  /// A target whose path has no `.` and `..`.
  private static func withoutDots(_ target: String) -> String {
    let path = target.prefix { $0 != "?" }
    var segments: [Substring] = []
    let given = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    for (index, segment) in zip(given.indices, given) {
      let isLast = index == given.endIndex - 1
      switch segment {
      case ".": if isLast { segments.append("") }
      case "..":
        _ = segments.popLast()
        if isLast { segments.append("") }
      default: segments.append(segment)
      }
    }
    return "/" + segments.joined(separator: "/") + target[path.endIndex...]
  }
}

/// The connections to where redirects lead. Confined to its loop.
final class RedirectPools {
  /// Other origins a client keeps connections to; more are the servers' mistake, and the oldest is closed.
  private static let most = 4

  private let make: (ConnectionTarget) -> any CallCarrier
  private var pools: [(endpoint: ConnectionTarget, pool: any CallCarrier)] = []

  init(_ make: @escaping (ConnectionTarget) -> any CallCarrier) {
    self.make = make
  }

  func pool(for endpoint: ConnectionTarget) -> any CallCarrier {
    if let known = pools.first(where: { $0.endpoint == endpoint }) { return known.pool }
    if pools.count >= Self.most { pools.removeFirst().pool.close() }
    let pool = make(endpoint)
    pools.append((endpoint, pool))
    return pool
  }

  func close() {
    for (_, pool) in pools { pool.close() }
  }
}
