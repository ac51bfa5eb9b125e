import Foundation
import Martlet
import MartletServer
import Testing

/// The client against the server of this package over real sockets.
@Suite(.timeLimit(.minutes(1))) struct EndToEndTests {
  static let board = """
    subscription Board($airport: String!) {
      onCreateDeparture(filter: { airport: { eq: $airport } }) { id minutes }
    }
    """

  private struct Board: Decodable, Sendable {
    var onCreateDeparture: Departure?
  }

  @Test
  func `queries, mutations and a filtered subscription work`() async throws {
    let server = try RealServer()
    defer { server.remove() }
    let client = try server.client()
    let board = client.subscribe(Self.board, variables: ["airport": "VIE"], as: Board.self)
    try await board.ready()
    #expect(board.isConfirmed)
    let other = try await client.depart("LNZ", 1)
    let first = try #require(try await client.depart("VIE", 2))
    try await client.depart("VIE", 3)

    var seen: [Departure?] = []
    for try await event in board {
      seen.append(event.data?.onCreateDeparture)
      #expect(event.gap == nil && event.cursor != nil)
      if seen.count == 2 { break }
    }
    #expect(seen.map { $0?.minutes } == [2, 3])
    #expect(seen.first??.id == first)

    let found = try await client.query(
      "query Get($id: ID!) { getDeparture(id: $id) { airport minutes } }",
      variables: ["id": .string(try #require(other))])
    #expect(found.data?["getDeparture"] == ["airport": "LNZ", "minutes": 1])
    board.cancel()
    #expect(board.state.description == "finished(cancelled)")
    await server.server.stop()
  }

  @Test func `P2, P3: a restart of the server on the same folder loses and repeats nothing`() async throws {
    let old = try RealServer()
    defer { old.remove() }
    let client = try old.client()
    let board = client.subscribe(Self.board, variables: ["airport": "VIE"], as: Board.self)
    try await board.ready()
    for minutes in 1...3 { try await client.depart("VIE", minutes) }
    let port = old.server.port
    await old.server.stop()

    let new = try RealServer(folder: old.folder, port: port)
    let other = try new.client()
    for minutes in 4...6 { try await other.depart("VIE", minutes) }
    var minutes: [Int?] = []
    var gaps = 0
    for try await event in board {
      if event.gap != nil { gaps += 1 } else { minutes.append(event.data?.onCreateDeparture?.minutes) }
      if minutes.count == 6 { break }
    }
    #expect(minutes == [1, 2, 3, 4, 5, 6])
    #expect(gaps == 0)
    await new.server.stop()
  }
}
