extension NetworkTransport {
  /// The transport itself where it keeps a connection.
  var connected: (any ConnectedNetworkTransport)? { self as? any ConnectedNetworkTransport }

  /// The life of the transport's connections from now on; ends at once where it reports none.
  var events: AsyncStream<ConnectionEvent> {
    if let connected { return connected.connectionEvents }
    return (self as? any ConnectionReporting)?.connectionEvents ?? AsyncStream { $0.finish() }
  }

  /// Runs a query or a mutation.
  package func response<Data: Decodable & Sendable>(to request: OperationRequest) async throws -> GraphQLResponse<Data>
  {
    try GraphQLResponse(try await send(request))
  }

  /// Starts a subscription; one that cannot be started is a stream that has failed.
  ///
  /// - Parameter store: What the caller could see before must not be shown from it once the server says that the caller
  ///   sees other data, also not after a restart without a network. Only the server knows which of it is still allowed.
  package func events<Element: Sendable>(
    of request: OperationRequest, emptying store: StoreSlot,
    _ decode: @escaping @Sendable (SubscriptionEvent) throws -> Element
  ) -> SubscriptionStream<Element> {
    let core = SubscriptionCore(request.buffer)
    core.onWithdrawal { store.withdraw() }
    do {
      try subscribe(request, feeding: SubscriptionFeed(core))
    } catch {
      core.move(to: .finished(.error(error)))
    }
    return SubscriptionStream(core: core, decode: decode)
  }

  /// The same with events that are decoded as responses.
  package func events<Data: Decodable & Sendable>(
    of request: OperationRequest, emptying store: StoreSlot
  ) -> SubscriptionStream<GraphQLResponse<Data>> {
    events(of: request, emptying: store) { try GraphQLResponse($0) }
  }
}
