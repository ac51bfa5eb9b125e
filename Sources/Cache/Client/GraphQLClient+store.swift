public import MartletGraphQLClient
public import MartletGraphQLStore

extension GraphQLClient {
  /// A client over a transport with a store, such as one that is kept in a file.
  ///
  ///     let client = GraphQLClient(networkTransport: splitTransport, store: store)
  public convenience init(networkTransport: any NetworkTransport, store: GraphQLStore) {
    self.init(networkTransport: networkTransport)
    keep(store)
  }

  /// The client's normalized store; typed operations read and write it as their cache policy says. In memory unless the
  /// client was given another.
  public var store: GraphQLStore { storeSlot.store { GraphQLStore() } }

  /// Gives a client that was just made its store.
  package func keep(_ store: GraphQLStore) { _ = storeSlot.store { store } }
}

extension GraphQLStore: ClientStore {
  package func withdraw() { try? clear() }
}

extension DefaultInterceptorProvider {
  /// The usual chain. The client reads and writes `store`; it is an argument here because programs for other clients
  /// name it here.
  public init(store: GraphQLStore) {
    self.init(interceptors: [RetryInterceptor()])
  }
}
