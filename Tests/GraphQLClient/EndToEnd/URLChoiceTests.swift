import Foundation
import Martlet
import MartletServer
import Testing

/// What a client's URL says about how its subscriptions travel.
@Suite struct URLChoiceTests {
  private static let changes = "subscription { onCreateDeparture { id minutes } }"

  private struct Added: Decodable, Sendable {
    var onCreateDeparture: Departure
  }

  @Test(.timeLimit(.minutes(1)))
  func `a client made of an http URL subscribes by multipart HTTP without further settings`() async throws {
    let server = try RealServer()
    defer { server.remove() }
    let client = try GraphQLClient(url: try #require(URL(string: "http://127.0.0.1:\(server.server.port)/graphql")))
    #expect(client.networkTransport is RequestChainNetworkTransport)
    var events = client.connectionEvents.makeAsyncIterator()
    let stream = client.subscribe(Self.changes, as: Added.self)
    try await stream.ready()
    try await client.depart("VIE", 7)
    try await client.depart("VIE", 8)
    var iterator = stream.makeAsyncIterator()
    #expect(try await iterator.next()?.data?.onCreateDeparture.minutes == 7)
    #expect(try await iterator.next()?.data?.onCreateDeparture.minutes == 8)
    stream.cancel()
    #expect(stream.state.description == "finished(cancelled)")
    client.shutDown()
    #expect(await events.next() == .connected(payload: nil))
    #expect(await events.next() == nil)
    await server.server.stop()
  }

  @Test(.timeLimit(.minutes(1)))
  func `an http URL subscribes by WebSocket when the configuration says so`() async throws {
    let server = try RealServer()
    defer { server.remove() }
    var configuration = ConnectionConfiguration()
    configuration.subscriptionTransport = .socket
    let client = try GraphQLClient(
      url: try #require(URL(string: "http://127.0.0.1:\(server.server.port)/graphql")), configuration: configuration)
    let stream = client.subscribe(Self.changes, as: Added.self)
    try await stream.ready()
    #expect(stream.isConfirmed)
    try await client.depart("VIE", 7)
    var iterator = stream.makeAsyncIterator()
    #expect(try await iterator.next()?.cursor != nil)
    await server.server.stop()
  }
}
