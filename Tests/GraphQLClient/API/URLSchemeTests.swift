import Foundation
import Martlet
import Testing

/// What a client's URL says about how its operations travel, without a server.
@Suite struct URLSchemeTests {
  @Test func `the scheme decides unless a setting does`() throws {
    typealias Case = (url: String, change: (inout ConnectionConfiguration) -> Void, byHTTP: Bool)
    let cases: [Case] = [
      ("http://a.test/graphql", { _ in }, true),
      ("HTTPS://a.test/graphql", { _ in }, true),
      ("ws://a.test/graphql", { _ in }, false),
      ("wss://a.test/graphql", { _ in }, false),
      ("http://a.test/graphql", { $0.subscriptionTransport = .socket }, false),
      ("ws://a.test/graphql", { $0.subscriptionTransport = .http }, true),
      // Settings that only a WebSocket has.
      ("https://a.test/graphql", { $0.dialect = .appSync }, false),
      ("https://a.test/graphql", { $0.dialect = .graphqlWS }, false),
      ("https://a.test/graphql", { $0.requestTransport = .socket }, false),
    ]
    for (url, change, byHTTP) in cases {
      var configuration = ConnectionConfiguration()
      change(&configuration)
      let client = try GraphQLClient(url: try #require(URL(string: url)), configuration: configuration)
      #expect((client.networkTransport is RequestChainNetworkTransport) == byHTTP, "\(url)")
      #expect((client.networkTransport is WebSocketTransport) != byHTTP, "\(url)")
    }
  }

  @Test func `an http URL without a host is refused when the client is made`() throws {
    let url = try #require(URL(string: "http:///graphql"))
    let error = #expect(throws: GraphQLClientError.self) { try GraphQLClient(url: url) }
    #expect(error?.code == .invalidRequest)
  }
}
