public import MartletJSON

extension ServerHandle {
  /// Ends the subscriptions on `field` whose invalidation filter (`SubscriptionControl.invalidation`) holds for
  /// `payload`: each gets an error with the code `SUBSCRIPTION_INVALIDATED` as its last message.
  ///
  /// Suspends until the call is durable. Events that were committed later reach none of those subscriptions.
  ///
  /// - Throws: `ServerError` when the store refuses it, or has been closed.
  public func invalidateSubscriptions(_ field: String, payload: JSONObject) async throws(ServerError) {
    _ = try await publish(topic: Invalidation.topic, payload: Invalidation.event(field, payload))
  }
}
