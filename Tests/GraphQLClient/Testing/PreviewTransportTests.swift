import Martlet
import MartletTesting
import Testing

/// What a view's preview is served with, in real time.
@Suite(.timeLimit(.minutes(1))) struct PreviewTransportTests {
  private struct Tick: Decodable, Sendable { let tick: Int }

  private static func client(_ count: Int) -> GraphQLClient {
    GraphQLClient(
      networkTransport: PreviewTransport(pause: .zero) { request in
        request.document.hasPrefix("{ nothing") ? [] : (0..<count).map { ["tick": .int(Int64($0))] }
      })
  }

  @Test func `a subscription gets the script's results in their order and stays open`() async throws {
    let stream = Self.client(3).subscribe("subscription { tick }", as: Tick.self)
    try await stream.ready()
    var seen: [Int?] = []
    for try await result in stream {
      seen.append(result.data?.tick)
      if seen.count == 3 { break }
    }
    #expect(seen == [0, 1, 2] && "\(stream.state)" == "active")
    stream.cancel()
  }

  @Test func `a query gets the first result, and without one it fails`() async throws {
    let client = Self.client(2)
    #expect(try await client.query("{ tick }").data?["tick"] == 0)
    let error = await #expect(throws: GraphQLClientError.self) { try await client.query("{ nothing }") }
    #expect(error?.code == .invalidRequest)
    client.shutDown()
    let late = await #expect(throws: GraphQLClientError.self) { try await client.query("{ tick }") }
    #expect(late?.code == .shutDown)
  }
}
