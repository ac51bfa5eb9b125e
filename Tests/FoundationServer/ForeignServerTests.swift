import Foundation
import Martlet
import MartletTestSupport
import Testing

/// The client over Foundation's network against servers of others, by HTTP: what they stream is read piece by piece.
@Suite(.enabled(if: Peers.areInstalled, Comment(rawValue: Peers.missing)), .timeLimit(.minutes(2)))
struct ForeignServerTests {
  private static let peers: [(peer: String, media: SubscriptionMediaType)] = [
    ("strawberry", .multipart), ("strawberry", .eventStream), ("ariadne", .eventStream),
  ]

  private static func with(
    _ peer: String, _ media: SubscriptionMediaType, _ body: (ForeignServer, GraphQLClient) async throws -> Void
  ) async throws {
    let server = try await ForeignServer(peer)
    defer { server.kill() }
    let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/graphql"))
    let client = try Servers.client(url) { $0.subscriptionMediaType = media }
    try await body(server, client)
    client.shutDown()
  }

  @Test(arguments: peers)
  func `queries, mutations and errors beside data are exchanged`(peer: String, media: SubscriptionMediaType)
    async throws
  {
    try await Self.with(peer, media) { _, client in
      let hello = try await client.query("query H($name: String!) { hello(name: $name) }", variables: ["name": "you"])
      #expect(hello.data?["hello"] == "hello you")
      let failed = try await client.query("{ fails }")
      #expect(failed.data?["fails"]?.isNull == true && failed.errors.first?["message"] == "it failed")
      #expect(try await client.mutate(#"mutation { say(text: "so") }"#).data?["say"] == "said so")
    }
  }

  @Test(arguments: peers)
  func `every value of a subscription arrives, its completion, and an error on the way`(
    peer: String, media: SubscriptionMediaType
  ) async throws {
    try await Self.with(peer, media) { _, client in
      let ticks = client.subscribe("subscription { tick(upTo: 3) }")
      var seen: [Int64?] = []
      for try await event in ticks { seen.append(event.data?["tick"]?.int) }
      #expect(seen == [1, 2, 3] && ticks.state.description == "finished(completed)")
      var messages: [String] = []
      do {
        for try await event in client.subscribe("subscription { tick(upTo: 3, failAt: 2) }") {
          messages += event.errors.compactMap { $0["message"]?.string }
        }
      } catch let error as GraphQLClientError {
        messages += error.errors.compactMap { $0["message"]?.string }
      }
      #expect(messages.contains { $0.contains("failed at 2") }, "\(messages)")
    }
  }

  @Test(arguments: peers)
  func `a subscription that is cancelled ends its source on the server, and a lost one is not a completion`(
    peer: String, media: SubscriptionMediaType
  ) async throws {
    try await Self.with(peer, media) { server, client in
      func running() async throws -> Int64? { try await client.query("{ running }").data?["running"]?.int }
      let stream = client.subscribe("subscription { forever }")
      var seen: [Int64?] = []
      for try await event in stream {
        seen.append(event.data?["forever"]?.int)
        if seen.count == 2 { break }
      }
      #expect(seen == [1, 2])
      stream.cancel()
      while try await running() != 0 { await Task.yield() }
      var lost = client.subscribe("subscription { forever }").makeAsyncIterator()
      #expect(try await lost.next()?.data?["forever"] == 1)
      server.kill()
      let error = await #expect(throws: GraphQLClientError.self) { while try await lost.next() != nil {} }
      #expect(error?.code == .connectionLost, "\(String(describing: error))")
    }
  }
}
