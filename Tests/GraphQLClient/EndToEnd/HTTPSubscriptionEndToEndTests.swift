import Foundation
import Martlet
import MartletServer
import Testing

/// Subscriptions by HTTP against the server of this package over real sockets, in every form.
@Suite(.timeLimit(.minutes(1))) struct HTTPSubscriptionEndToEndTests {
  static let forms: [SubscriptionMediaType] = [.multipart, .eventStream, .sharedEventStream]
  private struct Board: Decodable, Sendable {
    var onCreateDeparture: Departure?
  }

  private func client(
    _ server: RealServer, _ form: SubscriptionMediaType, resumes: Bool = false
  ) throws -> GraphQLClient {
    try server.client {
      $0.subscriptionTransport = .http
      $0.subscriptionMediaType = form
      $0.resumesHTTPSubscriptions = resumes
    }
  }

  /// Returns when the server has said that the subscription is live.
  private func confirmed(_ stream: SubscriptionStream<GraphQLResponse<Board>>) async throws {
    while !stream.isConfirmed {
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  @Test(arguments: forms) func `it is confirmed, its events carry cursors, and leaving ends it at the server`(
    form: SubscriptionMediaType
  ) async throws {
    let server = try RealServer { $0.loops = 2 }
    defer { server.remove() }
    let client = try client(server, form)
    let boards = ["VIE", "LNZ"].map {
      client.subscribe(EndToEndTests.board, variables: ["airport": .string($0)], as: Board.self)
    }
    for board in boards { try await board.ready() }
    for board in boards { try await confirmed(board) }
    try await client.depart("VIE", 1)
    try await client.depart("LNZ", 2)
    try await client.depart("VIE", 3)
    var seen: [Int?] = []
    for try await event in boards[0] {
      seen.append(event.data?.onCreateDeparture?.minutes)
      #expect(event.cursor != nil && event.gap == nil)
      if seen.count == 2 { break }
    }
    #expect(seen == [1, 3])
    for try await event in boards[1] {
      #expect(event.data?.onCreateDeparture?.minutes == 2)
      break
    }
    for board in boards { board.cancel() }
    await server.server.stop()
  }

  @Test(arguments: forms) func `leaving ends the source at the server, and no other`(form: SubscriptionMediaType)
    async throws
  {
    let (ends, told) = AsyncStream<String>.makeStream()
    let server = try RealServer {
      $0.schema = "type Note @model { id: ID! } type Subscription { tick(name: String!): Int }"
      $0.resolvers = {
        $0.stream("Subscription", "tick") { request in
          let name = request.string("name") ?? ""
          return AsyncStream<JSONValue> { continuation in
            continuation.onTermination = { _ in told.yield(name) }
            continuation.yield(1)
          }
        }
      }
    }
    defer { server.remove() }
    let client = try client(server, form)
    let streams = ["a", "b"].map { client.subscribe("subscription { tick(name: \"\($0)\") }") }
    var endings = ends.makeAsyncIterator()
    for (stream, name) in zip(streams, ["a", "b"]) {
      for try await result in stream {
        #expect(result.data?["tick"] == 1)
        break
      }
      stream.cancel()
      #expect(await endings.next() == name)
    }
    await server.server.stop()
  }

  @Test(arguments: forms) func `P2: with resuming on, a restart of the server loses and repeats nothing`(
    form: SubscriptionMediaType
  ) async throws {
    let old = try RealServer()
    defer { old.remove() }
    let client = try client(old, form, resumes: true)
    let board = client.subscribe(EndToEndTests.board, variables: ["airport": "VIE"], as: Board.self)
    try await board.ready()
    try await confirmed(board)
    for minutes in 1...3 { try await client.depart("VIE", minutes) }
    let port = old.server.port
    await old.server.stop()
    let new = try RealServer(folder: old.folder, port: port)
    let other = try new.client()
    for minutes in 4...6 { try await other.depart("VIE", minutes) }
    var seen: [Int?] = []
    for try await event in board {
      #expect(event.gap == nil)
      seen.append(event.data?.onCreateDeparture?.minutes)
      if seen.count == 6 { break }
    }
    #expect(seen == [1, 2, 3, 4, 5, 6])
    await new.server.stop()
  }

  @Test(arguments: forms) func `without it, another subscription resumes after the error's cursor`(
    form: SubscriptionMediaType
  ) async throws {
    let old = try RealServer()
    defer { old.remove() }
    let client = try client(old, form)
    let board = client.subscribe(EndToEndTests.board, variables: ["airport": "VIE"], as: Board.self)
    try await board.ready()
    try await confirmed(board)
    try await client.depart("VIE", 1)
    let port = old.server.port
    await old.server.stop()
    var seen: [Int?] = []
    var failure: GraphQLClientError?
    do {
      for try await event in board { seen.append(event.data?.onCreateDeparture?.minutes) }
    } catch let error as GraphQLClientError { failure = error }
    #expect(failure?.code == .connectionLost && seen == [1])
    let cursor = try #require(failure?.cursor)
    let new = try RealServer(folder: old.folder, port: port)
    try await new.client().depart("VIE", 2)
    let again = client.subscribe(
      EndToEndTests.board, variables: ["airport": "VIE"], as: Board.self, from: .after(cursor))
    for try await event in again {
      #expect(event.data?.onCreateDeparture?.minutes == 2)
      break
    }
    await new.server.stop()
  }
}
