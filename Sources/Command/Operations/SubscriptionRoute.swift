import Foundation
import Martlet
import MartletCommandLine
import MartletGraphQLWire
import MartletVocabulary

/// How `martlet subscribe` subscribes, by the names of `--protocol`.
enum SubscriptionRoute: Hashable {
  case webSocket(Dialect)
  case http(SubscriptionMediaType)

  static let all: [SubscriptionRoute] =
    Dialect.allCases.map { .webSocket($0) } + [.http(.multipart), .http(.eventStream), .http(.sharedEventStream)]

  static let usual = SubscriptionRoute.webSocket(.graphqlTransportWS)

  static let option = CommandSpecification.Option(
    name: "protocol", value: "NAME",
    help: "\(all.map(\.name).joined(separator: ", ")) (default \(usual.name))",
    choices: all.map { .init($0.name, $0.meaning) })

  /// What completion shows beside the name.
  private var meaning: String {
    switch self {
    case .webSocket(.graphqlTransportWS): "the WebSocket protocol of graphql-ws"
    case .webSocket(.graphqlWS): "the older protocol of subscriptions-transport-ws"
    case .webSocket(.appSync): "AppSync real-time"
    case .http(.multipart): "HTTP, a response in parts"
    case .http(.eventStream): "HTTP, server-sent events"
    case .http(.sharedEventStream): "HTTP, one event stream for all operations"
    }
  }

  init(_ arguments: ParsedArguments) {
    self = arguments.value("protocol").flatMap { name in Self.all.first { $0.name == name } } ?? Self.usual
  }

  var name: String {
    switch self {
    case .webSocket(let dialect): dialect.rawValue
    case .http(.multipart): "multipart"
    case .http(.eventStream): "sse"
    case .http(.sharedEventStream): "sse-single"
    }
  }

  /// Whether a subscription can resume after a cursor.
  var resumes: Bool {
    switch self {
    case .webSocket(let dialect): dialect.resumes
    case .http: true
    }
  }

  /// A transport that subscribes by this route and sends queries and mutations by HTTP.
  func transport(_ url: URL, _ configuration: ConnectionConfiguration) throws -> any NetworkTransport {
    var configuration = configuration
    // Whatever the route, a subscription of the command survives the network.
    configuration.resumesHTTPSubscriptions = true
    switch self {
    case .webSocket(let dialect):
      configuration.dialect = dialect
      return try WebSocketTransport(url: url, configuration: configuration)
    case .http(let media):
      configuration.subscriptionMediaType = media
      return RequestChainNetworkTransport(
        interceptorProvider: DefaultInterceptorProvider(interceptors: []), endpointURL: url,
        configuration: configuration)
    }
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
      unmet =
        [.http(.multipart), .http(.eventStream)].contains(self)
        && error.status.map { [400, 405, 406, 415].contains($0) } ?? false
    } else {
      unmet = false
    }
    guard unmet else { return nil }
    let others = Self.all.filter { $0 != self }.map(\.name).joined(separator: ", ")
    return "The server may not speak \(name) at this URL; --protocol has \(others)."
  }
}
