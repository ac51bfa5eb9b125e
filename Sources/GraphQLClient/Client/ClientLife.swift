package import MartletRuntime

/// The follower of a client that follows the application's life.
package final class ClientLife: Sendable {
  private let follower = Lock<ApplicationFollower?>(nil)

  package var isFollowing: Bool { follower.withLock { $0 != nil } }

  /// Follows other reports from now on; nil for none.
  package func follow(_ surroundings: ApplicationSurroundings?, for client: GraphQLClient) {
    let made = surroundings.map { surroundings in
      ApplicationFollower(surroundings) { [weak client] action in
        switch action {
        case .pause: client?.pause()
        case .resume: client?.resume()
        case .hasten: client?.networkTransport.connected?.networkChanged()
        case .none: break
        }
      }
    }
    // The one before ends outside the lock.
    let before = follower.withLock { follower in
      defer { follower = made }
      return follower
    }
    withExtendedLifetime(before) {}
  }
}
