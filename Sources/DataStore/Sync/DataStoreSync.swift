public import MartletGraphQLClient

/// The server that a store is synced with.
///
///     let client = try GraphQLClient(url: url)
///     let store = try DataStore(
///       models: [Post.self], storage: .file(path), sync: DataStoreSync(client.networkTransport))
public struct DataStoreSync: Sendable {
  /// Whose documents the sync sends.
  public enum Documents: Sendable, Hashable {
    /// This package's: one subscription for all models, resumed after every interruption.
    case martlet
    /// AppSync's: three subscriptions for each model.
    case appSync

    /// Whether the server says where its log has each record.
    var hasPositions: Bool { self == .martlet }
  }

  let transport: any NetworkTransport
  let documents: Documents
  let configuration: DataStoreConfiguration

  /// Syncs over a client's transport, which connects, authenticates and reconnects.
  public init(
    _ transport: any NetworkTransport, documents: Documents = .martlet,
    configuration: DataStoreConfiguration = DataStoreConfiguration()
  ) {
    self.transport = transport
    self.documents = documents
    self.configuration = configuration
  }
}
