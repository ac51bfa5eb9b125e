public import MartletGraphQLClient

extension OIDCAuthProvider {
  /// A provider whose requests go over the process's network, as a client's do.
  ///
  /// - Parameters:
  ///   - storage: Where tokens are kept between runs.
  ///   - network: What the network trusts and passes through; the credentials in it are not used.
  /// - Throws: `GraphQLClientError` when the system has no room for a loop, or a file of `network` cannot be read.
  public convenience init(
    _ configuration: OIDCConfiguration, storage: any CredentialStorage,
    network: ConnectionConfiguration = ConnectionConfiguration()
  ) throws(GraphQLClientError) {
    self.init(configuration, storage: storage, environment: try ClientEnvironment.http(nil, network))
  }
}
