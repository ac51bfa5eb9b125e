public import Foundation
public import MartletGraphQLClient

extension RequestChainNetworkTransport {
  /// A transport by HTTP, which asks for compressed answers. A URL that cannot be used fails each operation with
  /// `invalidRequest`.
  ///
  /// - Parameter environment: Where it lives; nil is the process's own.
  public convenience init(
    interceptorProvider: any InterceptorProvider, endpointURL: URL,
    configuration: ConnectionConfiguration = ConnectionConfiguration(), environment: ClientEnvironment? = nil
  ) {
    let home = Result { () throws(GraphQLClientError) in try ClientEnvironment.requests(environment, configuration) }
    self.init(HTTPTransport(endpointURL, configuration, in: home), provider: interceptorProvider)
  }
}
