internal import Foundation
internal import MartletCore
internal import MartletJSON
internal import MartletRuntime
internal import MartletWireProtocols

/// The end of a request chain: one HTTP request per operation.
final class HTTPTransport: UploadingNetworkTransport {
  private struct Home: Sendable {
    var connection: GraphQLConnection
    var endpoint: GraphQLEndpoint
    var environment: ClientEnvironment
    var configuration: ConnectionConfiguration
  }
  private let result: Result<Home, GraphQLClientError>

  init(_ url: URL, _ configuration: ConnectionConfiguration, _ environment: ClientEnvironment?) {
    var configuration = configuration
    configuration.requestTransport = .http
    do throws(GraphQLClientError) {
      let home = try ClientEnvironment.home(environment, configuration)
      let endpoint = try GraphQLEndpoint(url.absoluteString)
      let connection = GraphQLConnection(endpoint, configuration, environment: home)
      result = .success(
        Home(connection: connection, endpoint: endpoint, environment: home, configuration: configuration))
    } catch {
      result = .failure(error)
    }
  }

  /// Says why it cannot work, before anything is asked of it.
  func check() throws(GraphQLClientError) { _ = try result.get() }

  func send(_ request: OperationRequest) async throws -> OperationPayload {
    let home = try result.get()
    let payload = try await home.connection.perform(
      request.wire, request.operationKind, request.extras(home.configuration), part: request.onPart)
    return OperationPayload(bytes: payload)
  }

  func subscribe(_ request: OperationRequest, feeding feed: SubscriptionFeed) throws {
    let home = try result.get()
    guard let http = home.environment.http else {
      throw GraphQLClientError(.invalidRequest, "the client's environment has no HTTP for subscriptions")
    }
    let exchange = LoopBound(
      HTTPSubscription(request, feed, home.endpoint, home.configuration, home.environment, http),
      on: home.environment.loop)
    feed.onCancel(
      { exchange.loop.execute { exchange.value.cancel() } },
      onRoom: { exchange.loop.execute { exchange.value.goOn() } })
    exchange.loop.execute { exchange.value.start() }
  }

  func upload(_ request: OperationRequest, files: [GraphQLFile]) async throws -> OperationPayload {
    let home = try result.get()
    let form = try UploadForm(request, files, boundary: "martlet-\(UUID().uuidString)")
    var extras = request.extras(home.configuration)
    extras.form = (contentType: form.contentType, body: form.body)
    let payload = try await home.connection.perform(
      form.request.wire, request.operationKind, extras, part: request.onPart)
    return OperationPayload(bytes: payload)
  }

  func shutDown() { (try? result.get())?.connection.shutDown() }
}

extension ConnectionConfiguration {
  /// Whether a client of this URL subscribes by HTTP.
  func subscribesByHTTP(_ url: URL, _ environment: ClientEnvironment?) -> Bool {
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

extension ClientEnvironment {
  /// The environment a client lives in: its own or the process's, with the authorities it trusts.
  static func home(
    _ given: ClientEnvironment?, _ configuration: ConnectionConfiguration
  ) throws(GraphQLClientError) -> ClientEnvironment {
    if let given { return given }
    let shared = try ClientEnvironment.shared()
    guard let file = configuration.authorityFile else { return shared }
    return try shared.trusting(authorityFile: file)
  }
}
