public import MartletJSON

/// A client of one GraphQL server.
///
///     let client = try GraphQLClient(url: URL(string: "wss://example.test/graphql")!)
///     let flight = try await client.query("query Get($id: ID!) { getFlight(id: $id) { gate } }", variables: ["id": "OS 87"])
///     print(flight.data?["getFlight"]?["gate"]?.string ?? "unknown")
///
///     let board = client.subscribe("subscription { departures { line minutes } }", as: Board.self)
///     for try await result in board {
///       if let gap = result.gap { … } else if let data = result.data { … }
///     }
///
/// Queries and mutations go by HTTP over connections that are kept, or by the socket if the configuration says so. With
/// a `ws:` or `wss:` URL all subscriptions share one WebSocket, which is opened by the first and survives drops. With
/// an `http:` or `https:` URL each subscription is one HTTP response in parts, which ends with its connection: it needs
/// nothing but HTTP. Dropping the client closes everything.
public final class GraphQLClient: Sendable {
  /// How operations reach the server.
  public let networkTransport: any NetworkTransport
  /// The client's store, in programs that have `MartletCache`.
  package let storeSlot = StoreSlot()
  /// Set while the client follows the application's life.
  package let life = ClientLife()

  /// A client over a transport, such as a `SplitNetworkTransport` or one of your own.
  ///
  ///     let client = GraphQLClient(networkTransport: splitTransport)
  public init(networkTransport: any NetworkTransport) {
    self.networkTransport = networkTransport
  }

  /// Starts a subscription and returns its stream at once. See `SubscriptionStream` for its states.
  ///
  ///     let late = client.subscribe(
  ///       "subscription Late($airport: String!) { onUpdateFlight(filter: { airport: { eq: $airport } }) { line } }",
  ///       variables: ["airport": "VIE"])
  ///     try await late.ready()
  ///
  /// `buffer` bounds what waits for a slow consumer; nil takes the configuration's. `beginning` is where it begins, on
  /// servers that give cursors: with the oldest event that is kept, or after an earlier one. With servers that take a
  /// place as a variable, `resubscribing` returns the variables it is sent again with after a lost connection:
  ///
  ///     let feed = client.subscribe(
  ///       document, variables: ["after": 0], resubscribing: { ["after": .int(place.load(ordering: .relaxed))] })
  public func subscribe<Data: Decodable & Sendable>(
    _ document: String, variables: JSONObject = JSONObject(), operationName: String? = nil,
    as type: Data.Type = JSONValue.self, buffer: BufferPolicy? = nil, from beginning: SubscriptionStart = .now,
    resubscribing: (@Sendable () -> JSONObject)? = nil
  ) -> SubscriptionStream<GraphQLResponse<Data>> {
    var request = OperationRequest(
      .subscription, document: document, operationName: operationName, variables: variables)
    request.start = beginning
    request.buffer = buffer
    request.resubscribing = resubscribing
    return networkTransport.events(of: request, emptying: storeSlot)
  }

  /// Runs a query.
  ///
  ///     struct Answer: Decodable { var getFlight: Flight? }
  ///     let answer = try await client.query(document, variables: ["id": "OS 87"], as: Answer.self)
  ///
  /// A response with data and errors is a value; a request that was refused as a whole throws `operationFailed`.
  /// - Throws: `GraphQLClientError`, or `CancellationError` when the task is cancelled.
  public func query<Data: Decodable & Sendable>(
    _ document: String, variables: JSONObject = JSONObject(), operationName: String? = nil,
    as type: Data.Type = JSONValue.self
  ) async throws -> GraphQLResponse<Data> {
    try await networkTransport.response(
      to: OperationRequest(.query, document: document, operationName: operationName, variables: variables))
  }

  /// Runs a mutation. It is sent at most once, unless `appliesOnce` is set.
  ///
  ///     try await client.mutate(document, variables: ["minutes": 5], appliesOnce: true)
  ///
  /// With `appliesOnce` the mutation carries a number by which servers of this package recognise a repeat. If its
  /// answer is lost, it is sent again until the request's time is up, and applies once all the same. Such a document
  /// has exactly one mutation field.
  /// - Throws: `GraphQLClientError`; `outcomeUnknown` when the answer was lost and the mutation may not be repeated.
  @discardableResult
  public func mutate<Data: Decodable & Sendable>(
    _ document: String, variables: JSONObject = JSONObject(), operationName: String? = nil,
    as type: Data.Type = JSONValue.self, appliesOnce: Bool = false
  ) async throws -> GraphQLResponse<Data> {
    var request = OperationRequest(
      .mutation, document: document, operationName: operationName, variables: variables)
    request.appliesOnce = appliesOnce
    return try await networkTransport.response(to: request)
  }

  /// The life of the client's WebSocket, or of its subscriptions' event streams, from now on: connected, reconnected,
  /// disconnected, ping, pong. Ends when the client is shut down. Each call returns a sequence of its own, in which at
  /// most 256 events wait.
  ///
  ///     for await event in client.connectionEvents {
  ///       if case .disconnected(let code, let reason) = event { log("lost", code, reason) }
  ///     }
  public var connectionEvents: AsyncStream<ConnectionEvent> { networkTransport.events }

  /// Closes the WebSocket and keeps the subscriptions, until `resume()`. Queries and mutations that are on their way by
  /// the socket fail; those by HTTP continue.
  public func pause() { networkTransport.connected?.pause() }

  /// Opens the connection again after `pause()`.
  public func resume() { networkTransport.connected?.resume() }

  /// Ends everything: subscriptions as cancelled, queries and mutations on their way with `shutDown`, as later
  /// operations. Returns at once; what was running ends a moment later.
  public func shutDown() { networkTransport.shutDown() }
}
