import Foundation
import Martlet

/// A client that says which protocol its WebSocket speaks.
enum SpeakTransportWS {
  static func client(_ url: URL) throws -> GraphQLClient {
    var configuration = ConnectionConfiguration()
    configuration.dialect = .graphqlTransportWS
    configuration.subscriptionTransport = .socket
    return try GraphQLClient(url: url, configuration: configuration)
  }

  static func first(_ client: GraphQLClient) async throws -> JSONValue? {
    for try await event in client.subscribe("subscription { onCreateTodo { text } }") where event.gap == nil {
      return event.data?["onCreateTodo"]?["text"]
    }
    return nil
  }
}
