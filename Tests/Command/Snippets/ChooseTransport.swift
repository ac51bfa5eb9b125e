import Foundation
import Martlet

/// The Swift of the guide to connecting: transports of one's own choice.
enum ChooseTransport {
  static func split(url: URL, socketURL: URL) throws -> GraphQLClient {
    let store = GraphQLStore()
    let http = RequestChainNetworkTransport(
      interceptorProvider: DefaultInterceptorProvider(store: store), endpointURL: url)
    let socket = try WebSocketTransport(url: socketURL)
    let client = GraphQLClient(
      networkTransport: SplitNetworkTransport(
        queryTransport: http, mutationTransport: http, subscriptionTransport: socket),
      store: store)
    return client
  }

  static func events() -> ConnectionConfiguration {
    var configuration = ConnectionConfiguration()
    configuration.subscriptionMediaType = .eventStream
    return configuration
  }
}
