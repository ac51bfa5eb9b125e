internal import MartletGraphQLClient

extension SubscriptionStream where Element == MutationEvent {
  /// The changes that `find` selects, from now on.
  static func changes(
    of store: DataStore, _ find: (StoreRoom) throws -> ModelMapping.Observed
  ) -> SubscriptionStream<MutationEvent> {
    let core = SubscriptionCore(StoreStreams.observerPolicy)
    let stream = SubscriptionStream<MutationEvent>(core: core) { try MutationEvent($0.payload) }
    do {
      let room = try store.open()
      let observed = try find(room)
      room.streams.observe(model: observed.model, observed.condition, core)
      room.sync?.observationBegins()
    } catch {
      core.leave(.error(error))
    }
    return stream
  }
}
