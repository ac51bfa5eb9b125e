/// Sends operations by HTTP, each through a chain of interceptors.
///
///     let transport = RequestChainNetworkTransport(
///       interceptorProvider: DefaultInterceptorProvider(interceptors: [RetryInterceptor()]), endpointURL: url)
public final class RequestChainNetworkTransport: UploadingNetworkTransport {
  private let chain: InterceptedTransport

  package init(_ http: HTTPTransport, provider: any InterceptorProvider) {
    chain = InterceptedTransport(http, provider: provider)
  }

  /// Runs a query or a mutation.
  /// - Throws: `GraphQLClientError`; `outcomeUnknown` for a mutation whose answer was lost.
  public func send(_ request: OperationRequest) async throws -> OperationPayload {
    try await chain.send(request)
  }

  /// Starts a subscription by HTTP. It goes from pending to active to finished: a lost connection ends it, unless
  /// `resumesHTTPSubscriptions` of the configuration is set.
  /// - Throws: `invalidRequest` for a URL that cannot be used, and what an interceptor throws.
  public func subscribe(_ request: OperationRequest, feeding feed: SubscriptionFeed) throws {
    try chain.subscribe(request, feeding: feed)
  }

  /// Runs an operation with files, by the GraphQL multipart request specification.
  /// - Throws: as `send`; `unreadableFile` for a file on disk that cannot be read.
  public func upload(_ request: OperationRequest, files: [GraphQLFile]) async throws -> OperationPayload {
    try await chain.upload(request, files: files)
  }

  /// Ends everything.
  public func shutDown() { chain.shutDown() }
}

extension RequestChainNetworkTransport: ConnectionReporting {
  package var connectionEvents: AsyncStream<ConnectionEvent> { chain.connectionEvents }
}

/// The chain without a wish of its own: queries that found no connection are asked again.
public struct DefaultInterceptorProvider: InterceptorProvider {
  /// What every operation passes, the outermost first.
  public var interceptors: [any Interceptor]

  /// A chain of one's own.
  public init(interceptors: [any Interceptor]) {
    self.interceptors = interceptors
  }

  /// The same chain for every operation.
  public func interceptors(for request: OperationRequest) -> [any Interceptor] { interceptors }
}
