public import MartletGraphQLClient
internal import MartletRuntime

extension GraphQLClient {
  /// Whether the client pauses when the application enters the background and resumes when it comes back, and tries
  /// again at once when the network's path changes while it waits to connect. False by default.
  ///
  ///     client.followsApplicationLife = true
  ///
  /// Has an effect on iOS, tvOS, visionOS and watchOS (application and network) and on macOS (network). A server's
  /// events of the pause are caught up, or reported as a gap, as after any lost connection.
  public var followsApplicationLife: Bool {
    get { life.isFollowing }
    set { life.follow(newValue ? .system : nil, for: self) }
  }
}
