internal import MartletGraphQLClientWire
internal import MartletHTTPWire

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
  /// The fields that IAM adds to a request by `POST` with a JSON body.
  /// - Parameter milliseconds: The calendar's, since 1970.
  /// - Throws: `invalidRequest` when the region cannot be derived from the host.
  func signature(
    _ credentials: AWSCredentials, of body: [UInt8], to endpoint: GraphQLEndpoint, at milliseconds: Int64
  ) throws(GraphQLClientError) -> [(name: String, value: String)] {
    let signer = RequestSigner(credentials.keys, region: try signingRegion(endpoint), service: "appsync")
    let given = [(name: "content-type", value: "application/json"), (name: "host", value: endpoint.hostField)]
    return Array(signer.signed("POST", endpoint.target, given, body: body, at: milliseconds).dropFirst(given.count))
  }

  /// Whom a signature is for.
  /// - Throws: `invalidRequest` when it cannot be derived from the host.
  func signingRegion(_ endpoint: GraphQLEndpoint) throws(GraphQLClientError) -> String {
    if let region = appSync.region { return region }
    if let region = AppSyncRealtime.region(ofHost: endpoint.host) { return region }
    throw GraphQLClientError(
      .invalidRequest, "\(endpoint.host) does not name its region: set AppSyncConfiguration.region")
  }
}
