import Foundation
import Martlet

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The transports and the client over them: subscriptions by WebSocket, everything else by HTTP, or all of it by HTTP.
///
/// A socket takes time-out and header fields from the session it is given; a URL it cannot use is an error at once.
/// `RequestChainNetworkTransport` needs no further setting to subscribe: it asks for multipart HTTP.
enum Transports: Stop {
  static let title = "Subscriptions by WebSocket and by HTTP"

  /// A client of a server, queries and mutations by HTTP.
  static func splitClient(http: URL, socket: URL) throws -> GraphQLClient {
    let store = GraphQLStore()
    let httpTransport = RequestChainNetworkTransport(
      interceptorProvider: DefaultInterceptorProvider(store: store), endpointURL: http)
    let wsTransport = try WebSocketTransport(urlSession: URLSession.shared, store: store, endpointURL: socket)
    let splitTransport = SplitNetworkTransport(
      queryTransport: httpTransport, mutationTransport: httpTransport, subscriptionTransport: wsTransport)
    return GraphQLClient(networkTransport: splitTransport, store: store)
  }

  /// The same for the tour's server.
  static func splitClient(_ server: ServeProcess) throws -> GraphQLClient {
    try splitClient(http: server.url(scheme: "http"), socket: server.url)
  }

  /// A client that knows HTTP only.
  static func httpClient(_ server: ServeProcess) -> GraphQLClient {
    let store = GraphQLStore()
    let transport = RequestChainNetworkTransport(
      interceptorProvider: DefaultInterceptorProvider(store: store), endpointURL: server.url(scheme: "http"))
    return GraphQLClient(networkTransport: transport, store: store)
  }

  static func visit(_ visit: Visit) async throws {
    let (server, told) = (visit.server, visit.told)
    // The stops before had a socket of their own, which `Martlet.API` keeps.
    let before = try await server.metric("websocket_sessions")
    let clients = [
      ("split", try splitClient(server)), ("chain", httpClient(server)),
      // The scheme of its address says how it goes there.
      ("by address", try GraphQLClient(url: server.url(scheme: "http"))),
    ]
    for (name, client) in clients {
      let subscription = try client.subscribe(subscription: ReviewAddedSubscription())
      let following = Task { () throws -> Int in
        var count = 0
        for try await result in subscription {
          if let review = result.data?.reviewAdded { told.tell("\(name): \(review.line)") }
          count += 1
        }
        told.tell("\(name): \(subscription.state)")
        return count
      }
      try await subscription.ready()
      let sockets = try await server.metric("websocket_sessions") - before
      told.tell(
        "\(name): subscribed with \(sockets) sockets and \(try await server.metric("http_streams")) HTTP streams")
      try await Review.write(.jedi, 5, "Ewoks!", by: client)
      try await told.wait(for: "\(name): JEDI 5: Ewoks!")
      let list = try await client.fetch(query: ListReviewsQuery(), cachePolicy: .networkOnly)
      told.tell("\(name): the list has \(list.data?.listReviews?.items.count ?? 0)")

      following.cancel()
      told.tell("\(name): \(try await following.value) events")
      try await server.has(0)
      client.shutDown()
      try await server.has(before, "websocket_sessions")
    }
    do {
      _ = try splitClient(http: server.url(scheme: "http"), socket: server.url(scheme: "ftp"))
    } catch let error as GraphQLClientError {
      told.tell("an address that is none of a server: \(error.code)")
    }
  }
}
