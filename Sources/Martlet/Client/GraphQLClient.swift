public import Foundation
@_exported public import MartletCore
public import MartletJSON
internal import MartletWireProtocols

/// A client of one GraphQL server.
///
///     let client = try GraphQLClient(url: url)
///     let board = client.subscribe("subscription { departures { line minutes } }", as: Board.self)
///     for try await result in board {
///       if let gap = result.gap { … } else if let data = result.data { … }
///     }
///
/// All operations share one WebSocket, which is opened by the first and survives drops. Dropping the client closes it.
public final class GraphQLClient: Sendable {
  private let connection: GraphQLConnection

  /// A client for a server at a `ws:`, `wss:`, `http:` or `https:` URL. Nothing is opened yet.
  /// - Throws: `invalidRequest` for other URLs.
  public init(
    url: URL, configuration: ConnectionConfiguration = ConnectionConfiguration(), environment: ClientEnvironment? = nil
  ) throws(GraphQLClientError) {
    let home: ClientEnvironment
    if let environment { home = environment } else { home = try ClientEnvironment.shared() }
    connection = GraphQLConnection(try GraphQLEndpoint(url.absoluteString), configuration, environment: home)
  }

  /// Starts a subscription and answers its stream at once. See `SubscriptionStream` for its life.
  ///
  /// With `cursor`, the place of an earlier event, a server that gives cursors begins behind that place.
  public func subscribe<Data: Decodable & Sendable>(
    _ document: String, variables: JSONObject = JSONObject(), operationName: String? = nil,
    as type: Data.Type = JSONValue.self, buffer: BufferPolicy? = nil, resumingFrom cursor: Cursor? = nil
  ) -> SubscriptionStream<GraphQLResponse<Data>> {
    var request = GraphQLRequest(query: document, operationName: operationName, variables: variables)
    if let cursor { request.extensions = RequestContinuity(resume: cursor).added(to: request.extensions) }
    return SubscriptionStream(core: connection.subscribe(request, buffer: buffer)) { try GraphQLResponse($0) }
  }

  /// Runs a query.
  /// - Throws: `GraphQLClientError`, or `CancellationError` when the task is cancelled.
  public func query<Data: Decodable & Sendable>(
    _ document: String, variables: JSONObject = JSONObject(), operationName: String? = nil,
    as type: Data.Type = JSONValue.self
  ) async throws -> GraphQLResponse<Data> {
    try await perform(document, variables, operationName, isMutation: false)
  }

  /// Runs a mutation. It is sent at most once.
  /// - Throws: `GraphQLClientError`; `outcomeUnknown` when the connection was lost before the answer.
  public func mutate<Data: Decodable & Sendable>(
    _ document: String, variables: JSONObject = JSONObject(), operationName: String? = nil,
    as type: Data.Type = JSONValue.self
  ) async throws -> GraphQLResponse<Data> {
    try await perform(document, variables, operationName, isMutation: true)
  }

  private func perform<Data: Decodable & Sendable>(
    _ document: String, _ variables: JSONObject, _ operationName: String?, isMutation: Bool
  ) async throws -> GraphQLResponse<Data> {
    let request = GraphQLRequest(query: document, operationName: operationName, variables: variables)
    let payload = try await connection.perform(request, isMutation: isMutation)
    return try GraphQLResponse(SubscriptionEvent(payload: payload))
  }

  /// Closes the connection and keeps the subscriptions, until `resume()`. Running queries and mutations fail.
  public func pause() { connection.pause() }

  /// Opens the connection again after `pause()`.
  public func resume() { connection.resume() }

  /// Ends everything; later operations fail with `shutDown`.
  public func shutDown() { connection.shutDown() }
}
