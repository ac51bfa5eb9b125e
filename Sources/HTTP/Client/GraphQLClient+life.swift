public import MartletGraphQLClient
package import MartletRuntime

extension GraphQLClient {
  /// Whether the client pauses when the application enters the background and resumes when it comes back, and tries
  /// again at once when the network's path changes while it waits to connect. False by default.
  ///
  ///     client.followsApplicationLife = true
  ///
  /// Has an effect on iOS, tvOS, visionOS and watchOS (application and network) and on macOS (network). A server's
  /// events of the pause are caught up, or reported as a gap, as after any lost connection.
  public var followsApplicationLife: Bool {
    get { follower.withLock { $0 != nil } }
    set {
      guard !newValue else { return followsApplicationLife ? () : follow(.system) }
      let before = follower.withLock { follower in
        defer { follower = nil }
        return follower
      }
      withExtendedLifetime(before) {}
    }
  }

  /// Follows other reports than the system's.
  package func follow(_ surroundings: ApplicationSurroundings) {
    let made = ApplicationFollower(surroundings) { [weak self] action in
      switch action {
      case .pause: self?.pause()
      case .resume: self?.resume()
      case .hasten: (self?.networkTransport as? any ConnectedNetworkTransport)?.networkChanged()
      case .none: break
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
