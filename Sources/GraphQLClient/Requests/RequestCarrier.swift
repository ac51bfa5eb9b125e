import MartletGraphQLClientWire

/// Carries queries and mutations to a server: over HTTP, or over the socket of the subscriptions. Confined to its loop.
protocol RequestCarrier: AnyObject {
  /// Sends one; what comes of it goes to `response`.
  func start(_ request: RequestPayload, _ kind: ResendKind, _ extras: HTTPExtras, _ response: PendingResponse)
  /// The caller has left.
  func cancel(_ key: ObjectIdentifier)
  /// Ends everything under way with `shutDown`.
  func shutDown()
}
