internal import MartletChangeFeed
internal import MartletJSON
internal import MartletModels

/// Ends the subscriptions of one loop that a batch of changes invalidates.
struct Invalidator {
  let service: GraphQLService

  func apply(_ batch: ChangeBatch) {
    guard !service.node.subscriptionControls.isEmpty else { return }
    for change in batch.changes {
      guard let event = change.event, event.topic == Invalidation.topic, let field = event.payload["field"]?.string,
        let payload = event.payload["payload"]?.object
      else { continue }
      for case let session as GraphQLSession in service.sessionsInOrder {
        session.end(
          where: { $0.control?.field == field && $0.control?.invalidation?.holds(for: payload) == true },
          "The server has ended the subscription.", "SUBSCRIPTION_INVALIDATED")
      }
    }
  }
}
