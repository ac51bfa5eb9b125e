internal import MartletRuntime
package import MartletWireProtocols

/// One connection to one endpoint, shared by all operations over it; usable from any thread. What is asked of it is
/// done in order, on its loop.
package final class GraphQLConnection: Sendable {
  private let bound: LoopBound<ConnectionDriver>
  private let configuration: ConnectionConfiguration

  package init(
    _ endpoint: GraphQLEndpoint, _ configuration: ConnectionConfiguration, environment: ClientEnvironment
  ) {
    self.configuration = configuration
    bound = LoopBound(ConnectionDriver(endpoint, configuration, environment), on: environment.loop)
  }

  deinit {
    onLoop { $0.shutDown() }
  }

  private func onLoop(_ body: @escaping @Sendable (ConnectionDriver) -> Void) {
    let bound = self.bound
    bound.loop.execute { body(bound.value) }
  }

  /// Starts a subscription; it is dialled for, sent, resumed and ended from here on.
  package func subscribe(_ request: GraphQLRequest, buffer: BufferPolicy? = nil) -> SubscriptionCore {
    let core = SubscriptionCore(buffer ?? configuration.buffer)
    let bound = self.bound
    let key = ObjectIdentifier(core)
    core.connect(
      onCancel: { bound.loop.execute { bound.value.cancel(key) } },
      onRoom: { bound.loop.execute { bound.value.hasRoom(key) } })
    onLoop { $0.start(request, .subscription(core), repetition: .always) }
    return core
  }

  /// Sends a query or a mutation; answers the payload of its one result.
  /// - Throws: `GraphQLClientError`; for a mutation whose connection was lost, `outcomeUnknown`.
  package func perform(
    _ request: GraphQLRequest, isMutation: Bool, repetition: GraphQLTransportWS.Repetition = .never
  ) async throws -> [UInt8] {
    let core = SubscriptionCore(BufferPolicy(.wait, events: 2))
    let bound = self.bound
    let key = ObjectIdentifier(core)
    core.connect(onCancel: { bound.loop.execute { bound.value.cancel(key) } }, onRoom: {})
    onLoop { $0.start(request, .single(core, isMutation: isMutation), repetition: repetition) }
    guard let event = try await core.next() else {
      if Task.isCancelled { throw CancellationError() }
      throw GraphQLClientError(.invalidResponse, "the operation completed without a result")
    }
    return event.payload
  }

  /// Closes the socket and keeps the subscriptions, until `resume()`.
  package func pause() { onLoop { $0.pause() } }
  /// Dials again after `pause()`.
  package func resume() { onLoop { $0.resume() } }
  /// Ends everything.
  package func shutDown() { onLoop { $0.shutDown() } }
}
