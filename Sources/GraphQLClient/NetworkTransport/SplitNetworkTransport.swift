/// One transport out of several: queries, mutations and subscriptions each go their own way.
///
///     let split = SplitNetworkTransport(
///       queryTransport: http, mutationTransport: http, subscriptionTransport: socket)
public struct SplitNetworkTransport: NetworkTransport {
  let query: any NetworkTransport
  let mutation: any NetworkTransport
  let subscription: any NetworkTransport
  let uploads: (any UploadingNetworkTransport)?

  /// A way for each kind of operation. Uploads go by `uploadTransport`, or else the mutations' transport if it can.
  public init(
    queryTransport: any NetworkTransport, mutationTransport: any NetworkTransport,
    subscriptionTransport: any NetworkTransport, uploadTransport: (any UploadingNetworkTransport)? = nil
  ) {
    query = queryTransport
    mutation = mutationTransport
    subscription = subscriptionTransport
    uploads = uploadTransport ?? mutationTransport as? any UploadingNetworkTransport
  }

  /// Queries, mutations and uploads by the first, subscriptions by the second.
  public init(
    uploadingNetworkTransport: any UploadingNetworkTransport, webSocketNetworkTransport: any NetworkTransport
  ) {
    self.init(
      queryTransport: uploadingNetworkTransport, mutationTransport: uploadingNetworkTransport,
      subscriptionTransport: webSocketNetworkTransport, uploadTransport: uploadingNetworkTransport)
  }

  /// Runs a query or mutation by its transport.
  public func send(_ request: OperationRequest) async throws -> OperationPayload {
    try await (request.kind == .mutation ? mutation : query).send(request)
  }

  /// Starts a subscription by its transport.
  public func subscribe(_ request: OperationRequest, feeding feed: SubscriptionFeed) throws {
    try subscription.subscribe(request, feeding: feed)
  }

  /// Shuts all of them down.
  public func shutDown() {
    query.shutDown()
    mutation.shutDown()
    subscription.shutDown()
    uploads?.shutDown()
  }
}

extension SplitNetworkTransport: UploadingNetworkTransport {
  /// Runs an operation with files.
  /// - Throws: `invalidRequest` when no transport can send files.
  public func upload(_ request: OperationRequest, files: [GraphQLFile]) async throws -> OperationPayload {
    guard let uploads else { throw GraphQLClientError(.invalidRequest, "no transport of this client can send files") }
    return try await uploads.upload(request, files: files)
  }
}

extension SplitNetworkTransport: ConnectedNetworkTransport {
  /// The life of the subscriptions' connection; ends at once when they have none.
  public var connectionEvents: AsyncStream<ConnectionEvent> { subscription.events }

  /// Pauses the subscriptions' connection.
  public func pause() { subscription.connected?.pause() }
  /// Resumes the subscriptions' connection.
  public func resume() { subscription.connected?.resume() }
  /// Starts an attempt that waits for its back-off.
  public func networkChanged() { subscription.connected?.networkChanged() }
}
