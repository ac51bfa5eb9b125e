import Foundation
import Martlet
import MartletServer
import Testing

/// Where subscriptions begin, and their transactions, against the server of this package over real sockets.
@Suite(.timeLimit(.minutes(1))) struct SubscriptionStartTests {
  /// How the subscriptions travel.
  enum Way: CaseIterable {
    case socket, multipart, eventStream, sharedEventStream

    func configure(_ configuration: inout ConnectionConfiguration) {
      configuration.subscriptionTransport = self == .socket ? .socket : .http
      switch self {
      case .socket, .multipart: break
      case .eventStream: configuration.subscriptionMediaType = .eventStream
      case .sharedEventStream: configuration.subscriptionMediaType = .sharedEventStream
      }
    }
  }

  private static let board = """
    subscription Board($airport: String!) { onCreateDeparture(filter: { airport: { eq: $airport } }) { minutes } }
    """

  private func minutes(_ response: GraphQLResponse<JSONValue>) -> Int64? {
    response.data?["onCreateDeparture"]?["minutes"]?.int
  }

  @Test(arguments: Way.allCases)
  func `a subscription from the oldest event gets everything that is kept, then what happens`(way: Way) async throws {
    let server = try RealServer()
    defer { server.remove() }
    let client = try server.client(way.configure)
    for minutes in 1...3 { try await client.depart("VIE", minutes) }
    try await client.depart("LNZ", 4)
    let board = client.subscribe(Self.board, variables: ["airport": "VIE"], from: .oldest)
    try await board.ready()
    try await client.depart("VIE", 5)
    var seen: [Int64?] = []
    for try await event in board {
      #expect(event.gap == nil && event.cursor != nil)
      seen.append(minutes(event))
      if seen.count == 4 { break }
    }
    #expect(seen == [1, 2, 3, 5])
    client.shutDown()
    await server.server.stop()
  }

  @Test(arguments: Way.allCases)
  func `a filter that skips a transaction's last change leaves its end where it is`(way: Way) async throws {
    let server = try RealServer()
    defer { server.remove() }
    let client = try server.client(way.configure)
    let board = client.subscribe(Self.board, variables: ["airport": "VIE"])
    try await board.ready()
    for first in [1, 10] as [Int64] {
      try await server.server.transaction { transaction in
        for (airport, minutes) in [("VIE", first), ("VIE", first + 1), ("LNZ", first + 2)] {
          try transaction.create(
            "Departure", ["airport": .string(airport), "line": "RJ", "minutes": .int(minutes)])
        }
      }
    }
    var seen: [[Int64?]] = []
    for try await transaction in board.transactions {
      #expect(transaction.isComplete)
      seen.append(transaction.responses.map(minutes))
      if seen.count == 2 { break }
    }
    #expect(seen == [[1, 2], [10, 11]])
    client.shutDown()
    await server.server.stop()
  }
}
