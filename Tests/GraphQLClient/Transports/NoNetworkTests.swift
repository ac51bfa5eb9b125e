import Foundation
import Martlet
import MartletRuntime
import MartletTesting
import Testing

/// Environments that carry no requests.
@Suite struct NoNetworkTests {
  @Test func `a query, a mutation and an upload without HTTP fail, and never go by the socket that is there`() throws {
    let time = VirtualTime()
    let server = ScriptedServer(time)
    var environment = server.environment
    environment.requests = .none
    let url = try #require(URL(string: "ws://server.test/graphql"))
    var configuration = ConnectionConfiguration()
    configuration.requestTransport = .http
    let client = try GraphQLClient(url: url, configuration: configuration, environment: environment)
    let transport = try WebSocketTransport(url: url, configuration: configuration, environment: environment)
    try time.run {
      let stream = client.subscribe("subscription { tick }")
      let socket = try await server.accept()
      try await socket.expectOperation()
      func code(_ body: () async throws -> Void) async -> GraphQLClientError.Code? {
        do {
          try await body()
          return nil
        } catch { return (error as? GraphQLClientError)?.code }
      }
      #expect(await code { _ = try await client.query("{ n }") } == .invalidRequest)
      #expect(await code { _ = try await client.mutate("mutation { n }") } == .invalidRequest)
      let file = GraphQLFile(fieldName: "file", originalName: "a", mimeType: "text/plain", content: [1])
      let request = OperationRequest(.mutation, document: "mutation ($file: Upload!) { keep(file: $file) }")
      #expect(await code { _ = try await transport.upload(request, files: [file]) } == .invalidRequest)
      // The subscription's own messages, and no other.
      #expect(socket.received.count == 2 && server.attempts.count == 1, "\(socket.received)")
      stream.cancel()
    }
    client.shutDown()
    transport.shutDown()
  }
}
