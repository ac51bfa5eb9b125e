public import MartletGraphQLClient

/// The server that a store is synced with.
///
///     let client = try GraphQLClient(url: url)
///     let store = try DataStore(
///       models: [Post.self], storage: .file(path), sync: DataStoreSync(client.networkTransport))
public struct DataStoreSync: Sendable {
  /// What the server speaks.
  public enum Dialect: Sendable, Hashable {
    /// This package's: one subscription for all models, resumed after every interruption.
    case martlet
    /// AppSync's: three subscriptions for each model.
    case appSync

    /// Whether the server says where its log has each record.
    var hasPositions: Bool { self == .martlet }
  }

  let transport: any NetworkTransport
  let dialect: Dialect
  let configuration: DataStoreConfiguration

  /// Syncs over a client's transport, which connects, authenticates and reconnects.
  public init(
    _ transport: any NetworkTransport, dialect: Dialect = .martlet,
    configuration: DataStoreConfiguration = DataStoreConfiguration()
  ) {
    self.transport = transport
    self.dialect = dialect
    self.configuration = configuration
  }
}
