/// Automatic persisted operations: a document is named by its SHA-256, and sent along only when the server asks for it.
///
///     configuration.persistedOperations = PersistedOperationPolicy(queriesByGET: true)
///
/// A server that says that it does not support them is sent documents for the rest of the transport's life.
/// Subscriptions and uploads always carry their document.
public struct PersistedOperationPolicy: Sendable, Hashable {
  /// Sends queries that are named by a hash by GET, which caches on the way can answer. Documents go by POST.
  public var queriesByGET: Bool
  /// Names mutations as well.
  public var mutations: Bool
  /// Longest URL of a GET; longer ones become a POST. Servers take some 8,000 bytes, proxies at times less.
  public var urlBytes = 4_000
  /// Hashes kept, so that a document is hashed once. More than the documents of most applications.
  public var documents = 256

  /// Hashes for queries and mutations, by POST unless said otherwise.
  public init(queriesByGET: Bool = false, mutations: Bool = true) {
    self.queriesByGET = queriesByGET
    self.mutations = mutations
  }
}
