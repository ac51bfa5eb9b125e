internal import MartletGraphQLWire
internal import MartletWire

/// Keys by which AWS identifies the caller (IAM). What is sent to AppSync is signed with them; they are not sent.
///
///     configuration.dialect = .appSync
///     configuration.credentials = { _ in .iam(try await session.keys()) }
public struct AWSCredentials: Sendable, Hashable {
  /// The keys' name, which is sent.
  public var accessKeyID: String
  /// The secret.
  public var secretAccessKey: String
  /// With keys that are lent for a time.
  public var sessionToken: String?

  /// Keys, lent ones with their token.
  public init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil) {
    self.accessKeyID = accessKeyID
    self.secretAccessKey = secretAccessKey
    self.sessionToken = sessionToken
  }

  var keys: RequestSigner.Keys {
    RequestSigner.Keys(accessKeyID: accessKeyID, secretAccessKey: secretAccessKey, sessionToken: sessionToken)
  }
}

extension ConnectionConfiguration {
  /// Whom a signature is for.
  /// - Throws: `invalidRequest` when it cannot be derived from the host.
  func signingRegion(_ endpoint: GraphQLEndpoint) throws(GraphQLClientError) -> String {
    if let region = appSync.region { return region }
    if let region = AppSyncRealtime.region(ofHost: endpoint.host) { return region }
    throw GraphQLClientError(
      .invalidRequest, "\(endpoint.host) does not name its region: set AppSyncConfiguration.region")
  }
}
