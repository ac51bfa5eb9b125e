/// How operations reach a server. The library's are `WebSocketTransport`, `RequestChainNetworkTransport` and
/// `SplitNetworkTransport`; a transport of one's own needs two functions:
///
///     struct Recorded: NetworkTransport {
///       func send(_ request: OperationRequest) async throws -> OperationPayload {
///         OperationPayload(["data": ["hello": "world"]])
///       }
///       func subscribe(_ request: OperationRequest, feeding feed: SubscriptionFeed) throws {
///         feed.activate()
///         feed.yield(OperationPayload(["data": ["tick": 1]]))
///         feed.finish()
///       }
///     }
public protocol NetworkTransport: Sendable {
  /// Runs a query or a mutation. Suspends until its answer is there.
  /// - Throws: what kept it from being answered. Errors in the response are part of the payload.
  func send(_ request: OperationRequest) async throws -> OperationPayload

  /// Starts a subscription and returns; its events are reported to `feed`, from any thread.
  /// - Throws: when it cannot even be tried.
  func subscribe(_ request: OperationRequest, feeding feed: SubscriptionFeed) throws

  /// Ends everything; later operations fail.
  func shutDown()
}

extension NetworkTransport {
  /// Nothing is held that would have to end.
  public func shutDown() {}
}

/// A transport whose connection can be paused and reports its state.
public protocol ConnectedNetworkTransport: NetworkTransport {
  /// The connection's life from now on.
  var connectionEvents: AsyncStream<ConnectionEvent> { get }
  /// Closes the connection and keeps the subscriptions, until `resume()`.
  func pause()
  /// Opens the connection again.
  func resume()
  /// The way to the network is another one: an attempt that waits for its back-off starts now. Does nothing by default.
  func networkChanged()
}

extension ConnectedNetworkTransport {
  /// Waits as long as it would have.
  public func networkChanged() {}
}

/// A transport that can send files along with an operation, by the GraphQL multipart request specification.
public protocol UploadingNetworkTransport: NetworkTransport {
  /// Runs an operation with files. Each file stands in the variables under its `fieldName`, as null.
  /// - Throws: as `send`.
  func upload(_ request: OperationRequest, files: [GraphQLFile]) async throws -> OperationPayload
}
