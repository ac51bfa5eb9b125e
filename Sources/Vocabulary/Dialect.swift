/// A protocol that GraphQL operations are spoken in over a WebSocket. Both ends must speak the same one.
///
/// ```swift
/// configuration.dialect = .graphqlWS
/// ```
///
/// The raw value is its name in `martlet subscribe --protocol` and in metrics.
public enum Dialect: String, Sendable, Hashable, CaseIterable {
  /// The subprotocol `graphql-transport-ws`, of the library graphql-ws. Prefer it: only here subscriptions resume
  /// without a gap.
  case graphqlTransportWS = "graphql-transport-ws"
  /// The subprotocol `graphql-ws`, of the older library subscriptions-transport-ws.
  case graphqlWS = "graphql-ws"
  /// AppSync's real-time protocol, also under the subprotocol `graphql-ws`. It carries subscriptions; queries and
  /// mutations go by HTTP.
  case appSync = "appsync"
}
