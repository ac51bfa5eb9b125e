internal import MartletFoundationNetwork
package import MartletGraphQLClient

extension ClientEnvironment {
  /// The environment of a client that speaks HTTP alone: its own or the process's, with what the configuration trusts,
  /// shows and passes through.
  /// - Throws: `invalidRequest` for a setting that this network does not have, a file that cannot be read, or a pin
  ///   that is not a digest.
  package static func http(
    _ given: ClientEnvironment?, _ configuration: ConnectionConfiguration
  ) throws(GraphQLClientError) -> ClientEnvironment {
    if let given { return given }
    return try FoundationEnvironment.http(configuration)
  }
}
