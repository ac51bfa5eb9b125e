package import Foundation
internal import MartletHTTPWire
internal import MartletJSON
internal import MartletRuntime

/// The end of a request chain: one HTTP request per operation.
package final class HTTPTransport: UploadingNetworkTransport, ConnectionReporting {
  private struct Home: Sendable {
    var connection: GraphQLConnection
    var endpoint: GraphQLEndpoint
    var environment: ClientEnvironment
    var configuration: ConnectionConfiguration
    /// Nil where the environment has no HTTP for them.
    var subscriptions: LoopBound<HTTPSubscriptions>?
  }
  private let lastSubscription = Lock(0)
  private let events = ConnectionEvents()
  private let result: Result<Home, GraphQLClientError>

  /// - Parameter home: the environment it lives in, or why there is none.
  package init(
    _ url: URL, _ configuration: ConnectionConfiguration, in home: Result<ClientEnvironment, GraphQLClientError>
  ) {
    var configuration = configuration
    configuration.requestTransport = .http
    do throws(GraphQLClientError) {
      let home = try home.get()
      let endpoint = try GraphQLEndpoint(url.absoluteString)
      let connection = GraphQLConnection(endpoint, configuration, environment: home)
      let subscriptions = home.http.map { [events] in
        LoopBound(HTTPSubscriptions(endpoint, configuration, home, $0, events), on: home.loop)
      }
      result = .success(
        Home(
          connection: connection, endpoint: endpoint, environment: home, configuration: configuration,
          subscriptions: subscriptions))
    } catch {
      result = .failure(error)
    }
  }

  /// Throws why it cannot work, before anything is asked of it.
  package func check() throws(GraphQLClientError) { _ = try result.get() }

  package func send(_ request: OperationRequest) async throws -> OperationPayload {
    let home = try result.get()
    return try await home.connection.perform(
      request.wire, request.operationKind, request.extras(home.configuration), part: request.onPart)
  }

  package func subscribe(_ request: OperationRequest, feeding feed: SubscriptionFeed) throws {
    let home = try result.get()
    guard let subscriptions = home.subscriptions else {
      throw GraphQLClientError(.invalidRequest, "the client's environment has no HTTP for subscriptions")
    }
    let number = lastSubscription.withLock { last in
      last += 1
      return last
    }
    feed.onCancel(
      { subscriptions.loop.execute { subscriptions.value.cancel(number) } },
      onRoom: { subscriptions.loop.execute { subscriptions.value.goOn(number) } })
    subscriptions.loop.execute { subscriptions.value.start(number, request, feed) }
  }

  package func upload(_ request: OperationRequest, files: [GraphQLFile]) async throws -> OperationPayload {
    try await result.get().connection.upload(request, files: files)
  }

  package var connectionEvents: AsyncStream<ConnectionEvent> { events.stream() }

  package func shutDown() {
    guard let home = try? result.get() else { return events.finish() }
    home.connection.shutDown()
    guard let subscriptions = home.subscriptions else { return events.finish() }
    subscriptions.loop.execute { subscriptions.value.shutDown() }
  }
}

extension ConnectionConfiguration {
  /// Whether a client of this URL subscribes by HTTP.
  package func subscribesByHTTP(_ url: URL, _ environment: ClientEnvironment?) -> Bool {
    switch subscriptionTransport {
    case .http: return true
    case .socket: return false
    case .byURL:
      // An environment may have nothing but sockets.
      if let environment, environment.http == nil { return false }
      guard requestTransport == .http, dialect == .graphqlTransportWS else { return false }
      let scheme = url.scheme?.lowercased()
      return scheme == "http" || scheme == "https"
    }
  }
}
