import Foundation
import MartletHTTP

/// Subscribes over HTTP alone, and subscribes again after the last event when the connection was lost.
enum SubscribeByEvents {
  static func follow(_ url: URL, until isEnough: @Sendable (JSONValue?) -> Bool) async throws {
    var configuration = ConnectionConfiguration()
    configuration.subscriptionTransport = .http
    configuration.subscriptionMediaType = .eventStream
    configuration.resumesHTTPSubscriptions = true
    let client = try GraphQLClient(url: url, configuration: configuration)
    for try await event in client.subscribe("subscription { onCreateTodo { text } }") {
      if isEnough(event.data?["onCreateTodo"]?["text"]) { return }
    }
  }
}
