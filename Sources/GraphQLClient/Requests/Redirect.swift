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
    var next = endpoint
    if location.hasPrefix("/"), !location.hasPrefix("//") {
      next.target = location.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) ? location : endpoint.target
    } else {
      do throws(GraphQLClientError) {
        next = try GraphQLEndpoint(location)
      } catch {
        self = .refused("a redirect that cannot be followed: \(error.message)")
        return
      }
    }
    guard next.isSecure || !endpoint.isSecure else {
      self = .refused("a redirect from https to http is not followed: \(next.displayURL)")
      return
    }
    self = .to(next)
  }
}

/// The connections to where redirects lead. Confined to its loop.
final class RedirectPools {
  /// Other origins a client keeps connections to; more are the servers' mistake, and the oldest is closed.
  private static let most = 4

  private let make: (Endpoint) -> any CallCarrier
  private var pools: [(endpoint: Endpoint, pool: any CallCarrier)] = []

  init(_ make: @escaping (Endpoint) -> any CallCarrier) {
    self.make = make
  }

  func pool(for endpoint: Endpoint) -> any CallCarrier {
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
