public import Foundation
public import MartletGraphQLClient

extension RequestChainNetworkTransport {
  /// A transport by HTTP. A URL that cannot be used fails each operation with `invalidRequest`.
  ///
  /// - Parameter environment: Where it lives; nil is the process's own.
  @_disfavoredOverload
  public convenience init(
    interceptorProvider: any InterceptorProvider, endpointURL: URL,
    configuration: ConnectionConfiguration = ConnectionConfiguration(), environment: ClientEnvironment? = nil
  ) {
    self.init(
      HTTPTransport(endpointURL, configuration, in: .http(environment, configuration)), provider: interceptorProvider)
  }
}
