/// AppSync's real-time protocol: like the older `graphql-ws`, with an authorization for each connection and each
/// subscription, and a confirmation that a subscription is live.
package enum AppSyncRealtime {
  /// Silence after which a client gives the connection up, unless the server names another time
  /// (`connectionTimeoutMs`).
  package static let connectionTimeout = Duration.seconds(300)

  package typealias ClientLimits = StartStopClientLimits

  /// The longest silence a client believes in, whatever the server's `connectionTimeoutMs` says.
  package static let longestSilence = Duration.seconds(3_600)
}
