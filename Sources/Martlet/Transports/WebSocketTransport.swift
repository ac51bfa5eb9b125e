public import Foundation
public import MartletGraphQLClient
public import MartletJSON

/// Sends operations over one WebSocket, which survives drops: it is dialled again, and subscriptions resume where they
/// stopped, or say what is missing.
///
///     let transport = try WebSocketTransport(url: url)
///     let client = GraphQLClient(networkTransport: transport, store: GraphQLStore())
///
/// Nothing is opened before the first operation. AppSync's protocol carries subscriptions only; there queries and
/// mutations go by HTTP.
public final class WebSocketTransport: ConnectedNetworkTransport {
  /// The connection, or why there can be none.
  private let result: Result<GraphQLConnection, GraphQLClientError>

  /// A transport to a server, with every setting.
  /// - Throws: `invalidRequest` for other URLs than `ws:`, `wss:`, `http:` and `https:`, and for an authority file that
  ///   cannot be read.
  public init(
    url: URL, configuration: ConnectionConfiguration = WebSocketTransport.configuration,
    environment: ClientEnvironment? = nil
  ) throws(GraphQLClientError) {
    result = .success(try GraphQLConnection(url, configuration, environment))
  }

  /// A transport to a server. A URL that cannot be used fails each operation with `invalidRequest`.
  ///
  /// - Parameters:
  ///   - websocket: the server's address and the protocol spoken there.
  ///   - connectingPayload: sent with every `connection_init`, reconnections included. What the configuration's
  ///     credential provider answers is merged into it and wins.
  ///   - configuration: everything else; its dialect is the one that `websocket` names.
  ///   - environment: where it lives; nil is the process's own.
  public init(
    websocket: WebSocket, connectingPayload: JSONObject = JSONObject(),
    configuration: ConnectionConfiguration = WebSocketTransport.configuration, environment: ClientEnvironment? = nil
  ) {
    var configuration = configuration
    configuration.dialect = websocket.webSocketProtocol
    configuration.headers += websocket.headers
    for (key, value) in connectingPayload { configuration.connectingPayload[key] = value }
    do throws(GraphQLClientError) {
      result = .success(try GraphQLConnection(websocket.url, configuration, environment))
    } catch {
      result = .failure(error)
    }
  }

  /// As the initialiser with a `JSONObject`, for a payload of texts.
  public convenience init(
    websocket: WebSocket, connectingPayload: [String: String],
    configuration: ConnectionConfiguration = WebSocketTransport.configuration, environment: ClientEnvironment? = nil
  ) {
    let members = connectingPayload.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.string($0.value)) }
    self.init(
      websocket: websocket, connectingPayload: JSONObject(members), configuration: configuration,
      environment: environment)
  }

  init(_ connection: GraphQLConnection) {
    result = .success(connection)
  }

  /// The defaults with all operations on the socket.
  public static var configuration: ConnectionConfiguration {
    var configuration = ConnectionConfiguration()
    configuration.requestTransport = .socket
    return configuration
  }

  /// Runs a query or a mutation over the socket.
  /// - Throws: `GraphQLClientError`; `outcomeUnknown` for a mutation whose answer was lost.
  public func send(_ request: OperationRequest) async throws -> OperationPayload {
    let connection = try result.get()
    return try await connection.perform(
      request.wire, request.operationKind, request.extras(connection.configuration), part: request.onPart)
  }

  /// Starts a subscription.
  /// - Throws: `invalidRequest` when the transport has no usable URL.
  public func subscribe(_ request: OperationRequest, feeding feed: SubscriptionFeed) throws {
    try result.get().subscribe(request.wire, into: feed.core, resubscribing: request.resubscribing)
  }

  /// The socket's life from now on: connected, reconnected, disconnected, ping, pong.
  public var connectionEvents: AsyncStream<ConnectionEvent> {
    (try? result.get())?.connectionEvents ?? AsyncStream { $0.finish() }
  }

  /// Sends another payload from the next `connection_init` on, in place of the configuration's. With
  /// `reconnectIfConnected` an open socket is replaced now: subscriptions resume on the next one, a query or mutation
  /// on its way fails and is not sent again.
  public func updateConnectingPayload(_ payload: JSONObject, reconnectIfConnected: Bool = false) {
    (try? result.get())?.update(reconnecting: reconnectIfConnected) { $0.connectingPayload = payload }
  }

  /// Sends other header fields from the next handshake on, in place of the configuration's; otherwise as
  /// `updateConnectingPayload`.
  public func updateHeaders(_ headers: [(name: String, value: String)], reconnectIfConnected: Bool = false) {
    (try? result.get())?.update(reconnecting: reconnectIfConnected) { $0.headers = headers }
  }

  /// Closes the socket and keeps the subscriptions, until `resume()`.
  public func pause() { (try? result.get())?.pause() }
  /// Opens the socket again.
  public func resume() { (try? result.get())?.resume() }
  /// Starts an attempt that waits for its back-off; a socket that is open stays so.
  public func networkChanged() { (try? result.get())?.hasten() }
  /// Ends everything.
  public func shutDown() { (try? result.get())?.shutDown() }
}

extension WebSocketTransport: UploadingNetworkTransport {
  /// Runs an operation with files, by HTTP to the same host and path.
  /// - Throws: as `send`, and `invalidRequest` where everything goes by the socket (`requestTransport`), which carries
  ///   no files.
  public func upload(_ request: OperationRequest, files: [GraphQLFile]) async throws -> OperationPayload {
    try await result.get().upload(request, files: files)
  }
}

extension GraphQLConnection {
  convenience init(
    _ url: URL, _ configuration: ConnectionConfiguration, _ environment: ClientEnvironment?
  ) throws(GraphQLClientError) {
    let home = try ClientEnvironment.home(environment, configuration)
    self.init(try GraphQLEndpoint(url.absoluteString), configuration, environment: home)
  }
}
