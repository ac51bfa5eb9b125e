import Foundation
import Martlet
import MartletServer
import Synchronization

/// A server with the tour's `reviewAdded`, whose reviews come from Swift code.
///
/// Models' subscriptions continue for ever. These end when the code behind them says so, which completes them for the
/// client; and no client is accepted before the doors are open, so that a client can be seen waiting.
final class Premiere: Sendable {
  private static let schema = """
    enum Episode { NEWHOPE EMPIRE JEDI }
    type Review { id: ID! episode: Episode! stars: Int! commentary: String }
    type Query { seats: Int }
    type Subscription { reviewAdded(episode: Episode): Review }
    """

  /// Where clients find it, by WebSocket and by HTTP.
  let url: URL
  let httpURL: URL
  private let server: GraphQLServer
  private let doors = Transcript()
  private let audience = Audience()
  /// The protocols that clients came with.
  let dialects = Transcript()

  init() throws {
    var configuration = ServerConfiguration(schema: Self.schema)
    configuration.access = .development
    configuration.onConnect = { [doors, dialects] request in
      dialects.tell(request.dialect.map { "\($0)" } ?? "HTTP")
      try await doors.wait(for: "open")
      return .accept()
    }
    configuration.resolvers = { [audience] resolvers in
      resolvers.resolve("Query", "seats") { _ in 400 }
      resolvers.stream("Subscription", "reviewAdded") { _ in audience.seat() }
    }
    server = try GraphQLServer(configuration)
    try server.start()
    let place = "127.0.0.1:\(server.port)/graphql"
    guard let url = URL(string: "ws://\(place)"), let httpURL = URL(string: "http://\(place)") else {
      throw TourFailure("the server has no address")
    }
    (self.url, self.httpURL) = (url, httpURL)
  }

  func openDoors() { doors.tell("open") }

  /// Sends a review to all who watch, once there is somebody.
  func show(episode: String, stars: Int) async throws {
    try await audience.wait { $0 > 0 }
    audience.send(["id": .string("\(episode) \(stars)"), "episode": .string(episode), "stars": .int(Int64(stars))])
  }

  /// Completes all subscriptions.
  func end() { audience.dismiss() }

  /// Returns when the sources of all who watched have stopped.
  func isEmpty() async throws { try await audience.wait { $0 == 0 } }

  func close() async { await server.stop() }
}

/// Who watches: the source streams of the server's subscriptions.
private final class Audience: Sendable {
  private struct State {
    var seats: [Int: AsyncStream<JSONValue>.Continuation] = [:]
    var seatsSoFar = 0
  }
  private let state = Mutex(State())
  private let changes = Transcript()

  func seat() -> AsyncStream<JSONValue> {
    AsyncStream { continuation in
      let number = state.withLock { state in
        state.seatsSoFar += 1
        state.seats[state.seatsSoFar] = continuation
        return state.seatsSoFar
      }
      continuation.onTermination = { [self] _ in
        state.withLock { $0.seats[number] = nil }
        changes.tell("left")
      }
      changes.tell("came")
    }
  }

  func send(_ review: JSONValue) {
    for seat in state.withLock({ $0.seats.values.map { $0 } }) { seat.yield(review) }
  }

  func dismiss() {
    let seats = state.withLock { state in
      defer { state.seats = [:] }
      return state.seats.values.map { $0 }
    }
    for seat in seats { seat.finish() }
  }

  func wait(until isDone: @escaping @Sendable (_ seated: Int) -> Bool) async throws {
    try await changes.wait { [self] _ in isDone(state.withLock { $0.seats.count }) }
  }
}
