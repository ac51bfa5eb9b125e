/// How an application's synced tree reaches its server.
///
/// ```swift
/// var configuration = DatasyncConfiguration(url: "wss://example.test")
/// configuration.connection.credentials = { _ in .bearer(try await session.token()) }
/// let application = MartletApplication(configuration: configuration)
/// ```
public struct DatasyncConfiguration: Sendable {
  /// The server, such as `wss://example.test`; without a path the tree's own (`/.ws`) is taken.
  public var url: String
  /// The namespace; nil is the server's default one.
  public var namespace: String?
  /// Credentials, pauses between attempts, deadlines, trust. Settings of GraphQL have no effect. A credential is the
  /// token of an `Authorization: Bearer` field.
  public var connection = ConnectionConfiguration()
  /// Credentials are those of the server's administrator, to whom rules do not apply.
  public var isAdministrator = false
  /// Events of one subscription that wait for its consumer. Beyond it value events are replaced by the newest one, and
  /// a subscription of children is revoked with `overflow`. Ten thousand children are a large first load.
  public var waitingEvents = 10_000
  /// Writes that wait for their answers; one more is refused with `overloaded`, so that an application that writes for
  /// days without a network fails where it can be seen.
  public var queuedWrites = 10_000
  /// What outlives the process.
  public var cacheMode = DatasyncCacheMode.none
  /// Bytes of the values that the cache's file keeps; beyond it those that were used longest ago are evicted, apart
  /// from those of subscriptions and of nodes that are kept synced. Ten million are the Realtime Database's.
  public var cacheBytes = 10_000_000
  /// Values of ended subscriptions that are kept in memory, where there is no file: enough for an application's
  /// screens.
  public var keptNodes = 100
  /// How long a read waits for a connection before it is answered from what is known here. Three seconds are the
  /// Realtime Database's.
  public var readTimeout = Duration.seconds(3)
  /// Asks for what goes beyond version 5 of the Realtime Database's protocol: writes that apply once, and listeners
  /// that resume. A server that does not know it speaks version 5.
  public var usesAdditions = true

  /// A configuration for a server.
  public init(url: String, namespace: String? = nil) {
    self.url = url
    self.namespace = namespace
  }
}
