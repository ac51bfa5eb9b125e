public import MartletJSON

/// How a client authorizes itself towards AppSync.
///
///     configuration.dialect = .appSync
///     configuration.appSync.authorization = ["x-api-key": "da2-…"]
///
/// With IAM the credential provider returns `Credentials.iam(…)`, and the authorization here stays empty.
///
/// The client's URL may be either of the API's two, `…appsync-api…/graphql` or `wss://…appsync-realtime-api…/graphql`,
/// and under a domain of one's own with or without `/realtime`; the other one is derived.
public struct AppSyncConfiguration: Sendable, Hashable {
  /// How the authorization travels in the opening handshake.
  public enum Passing: Sendable, Hashable {
    /// As a subprotocol, `header-…`: it does not reach logs of URLs.
    case subprotocol
    /// In the query: `header=…&payload=e30=`. Every server of the protocol takes it.
    case query
    /// As header fields. Not for private APIs.
    case headers
  }

  /// How the authorization travels in the opening handshake.
  public var passing = Passing.subprotocol
  /// Members of the authorization that do not change, such as `x-api-key`. The members that the credential provider
  /// answers with (`Credentials.payload`) come on top, fresh for each connection.
  public var authorization: JSONObject
  /// The authorization's `host`; nil derives the GraphQL host from the client's URL.
  public var host: String?
  /// The region that signatures of IAM are for; nil takes it from a host of AWS. A domain of one's own does not say it.
  public var region: String?

  /// An authorization with fixed members, or none.
  public init(
    authorization: JSONObject = JSONObject(), passing: Passing = .subprotocol, host: String? = nil,
    region: String? = nil
  ) {
    self.authorization = authorization
    self.passing = passing
    self.host = host
    self.region = region
  }
}
