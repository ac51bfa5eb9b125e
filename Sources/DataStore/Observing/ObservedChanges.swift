internal import MartletGraphQLClient

extension SubscriptionStream where Element == MutationEvent {
  /// The changes that `find` selects, from now on.
  static func changes(
    of store: DataStore, _ find: (StoreRoom) throws -> ModelMapping.Observed
  ) -> SubscriptionStream<MutationEvent> {
    // A consumer that takes nothing keeps 10,000 events, some megabytes, and then learns that it lost some.
    let core = SubscriptionCore(BufferPolicy(.fail, events: 10_000, bytes: 64 << 20))
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
