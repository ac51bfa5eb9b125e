import Foundation
import Martlet

/// A client's way to the server, which can be cut.
///
/// `@unchecked Sendable` holds because what changes is behind `lock`.
final class Cable: NetworkTransport, @unchecked Sendable {
  private let inner: any NetworkTransport
  private let lock = NSLock()
  private var isCut = false
  private var feeds: [SubscriptionFeed] = []

  init(_ inner: any NetworkTransport) { self.inner = inner }

  private static let cutOff = GraphQLClientError(.connectionLost, "the cable is cut")

  /// Ends what is under way, and refuses everything until `mend`.
  func cut() {
    let feeds = lock.withLock {
      isCut = true
      defer { self.feeds = [] }
      return self.feeds
    }
    for feed in feeds { feed.finish(throwing: Self.cutOff) }
  }

  func mend() { lock.withLock { isCut = false } }

  func send(_ request: OperationRequest) async throws -> OperationPayload {
    if lock.withLock({ isCut }) { throw Self.cutOff }
    return try await inner.send(request)
  }

  func subscribe(_ request: OperationRequest, feeding feed: SubscriptionFeed) throws {
    let isCut = lock.withLock {
      if !self.isCut { feeds.append(feed) }
      return self.isCut
    }
    if isCut { throw Self.cutOff }
    try inner.subscribe(request, feeding: feed)
  }

  func shutDown() { inner.shutDown() }
}
