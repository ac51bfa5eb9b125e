import Foundation
import Martlet
import MartletCommandLine

/// What `martlet subscribe --protocol` speaks.
enum SubscriptionProtocol: String, CaseIterable {
  case transportWS = "graphql-transport-ws"
  case legacyWS = "graphql-ws"
  case appSync = "appsync"
  case multipart
  case events = "sse"
  case sharedEvents = "sse-single"

  static let option = CommandSpecification.Option(
    name: "protocol", value: "NAME",
    help: "\(allCases.map(\.rawValue).joined(separator: ", ")) (default \(transportWS.rawValue))",
    choices: allCases.map { .init($0.rawValue, $0.meaning) })

  /// What completion shows beside the name.
  private var meaning: String {
    switch self {
    case .transportWS: "the WebSocket protocol of graphql-ws"
    case .legacyWS: "the older protocol of subscriptions-transport-ws"
    case .appSync: "AppSync real-time"
    case .multipart: "HTTP, a response in parts"
    case .events: "HTTP, server-sent events"
    case .sharedEvents: "HTTP, one event stream for all operations"
    }
  }

  init(_ arguments: ParsedArguments) {
    self = arguments.value("protocol").flatMap { SubscriptionProtocol(rawValue: $0) } ?? .transportWS
  }

  /// Whether a subscription can resume after a cursor.
  var resumes: Bool {
    switch self {
    case .transportWS, .multipart, .events, .sharedEvents: true
    case .legacyWS, .appSync: false
    }
  }

  /// Whether it goes by HTTP.
  var goesByHTTP: Bool {
    switch self {
    case .transportWS, .legacyWS, .appSync: false
    case .multipart, .events, .sharedEvents: true
    }
  }

  /// A transport that subscribes by this protocol and asks by HTTP.
  func transport(_ url: URL, _ configuration: ConnectionConfiguration) throws -> any NetworkTransport {
    var configuration = configuration
    switch self {
    case .transportWS: configuration.dialect = .graphqlTransportWS
    case .legacyWS: configuration.dialect = .graphqlWS
    case .appSync: configuration.dialect = .appSync()
    case .multipart: configuration.subscriptionMediaType = .multipart
    case .events: configuration.subscriptionMediaType = .eventStream
    case .sharedEvents: configuration.subscriptionMediaType = .sharedEventStream
    }
    // Whatever the protocol, a subscription of the command survives the network.
    configuration.resumesHTTPSubscriptions = true
    guard goesByHTTP else { return try WebSocketTransport(url: url, configuration: configuration) }
    return RequestChainNetworkTransport(
      interceptorProvider: DefaultInterceptorProvider(interceptors: []), endpointURL: url,
      configuration: configuration)
  }

  /// What to try when the server does not speak this one; nil when the error says nothing about that.
  func advice(_ error: GraphQLClientError) -> String? {
    let unmet: Bool
    if error.code == .protocolMismatch {
      unmet = true
    } else if error.code == .httpStatus {
      // What servers answer that do not know the path, the method, the media type or the upgrade.
      unmet = error.status.map { [200, 400, 404, 405, 406, 415, 426, 501].contains($0) } ?? false
    } else if error.code == .operationFailed {
      // A stream that several share has been opened before anything is asked: the protocol is spoken.
      unmet = goesByHTTP && self != .sharedEvents && error.status.map { [400, 405, 406, 415].contains($0) } ?? false
    } else {
      unmet = false
    }
    guard unmet else { return nil }
    let others = Self.allCases.filter { $0 != self }.map(\.rawValue).joined(separator: ", ")
    return "The server may not speak \(rawValue) at this URL; --protocol has \(others)."
  }
}
