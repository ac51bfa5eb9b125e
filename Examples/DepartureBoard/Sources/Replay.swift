import Martlet

/// Writes steps to a server one after the other, each exactly once, over lost connections and restarts of both ends.
///
/// It remembers nothing on disk: steps are written in order, so those a server has are the first ones, and how many
/// these are is found by reading a few flights.
struct Replay {
  let client: GraphQLClient
  let steps: [Timeline.Step]

  /// How many steps the server has.
  func progress() async throws -> Int {
    var (low, high) = (0, steps.count)
    while low < high {
      let middle = (low + high) / 2
      if try await isApplied(steps[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Writes one step. After a failure that leaves the outcome open, what the server has decides.
  func write(_ step: Timeline.Step) async throws {
    let isAnnouncement = FlightDocuments.isAnnouncement(step)
    let document = isAnnouncement ? FlightDocuments.create : FlightDocuments.update
    while true {
      do {
        let response = try await client.mutate(
          document, variables: ["input": .object(FlightDocuments.input(of: step))], as: JSONValue.self)
        if response.errors.isEmpty { return }
        if response.errors[0]["extensions"]?["code"]?.string != "SHUTTING_DOWN" {
          throw FlightDocuments.Refused(errors: response.errors.map(\.json))
        }
      } catch let error as GraphQLClientError where Self.leavesOpen(error) {}
      if try await isApplied(step) { return }
    }
  }

  /// Whether a step has been written: its flight is there and has at least that status.
  private func isApplied(_ step: Timeline.Step) async throws -> Bool {
    while true {
      do {
        let response = try await client.query(
          FlightDocuments.status, variables: ["id": .string(step.flight.id)], as: JSONValue.self)
        guard response.errors.isEmpty else { throw FlightDocuments.Refused(errors: response.errors.map(\.json)) }
        guard let text = response.data?["getFlight"]?["status"]?.string, let status = Timeline.Status(rawValue: text)
        else { return false }
        return status.rank >= step.status.rank
      } catch let error as GraphQLClientError where Self.leavesOpen(error) {}
    }
  }

  private static func leavesOpen(_ error: GraphQLClientError) -> Bool {
    [.connectionLost, .outcomeUnknown, .connectFailed].contains(error.code)
  }
}

extension Timeline.Status {
  /// How far in a flight's life; a flight never goes back.
  var rank: Int {
    switch self {
    case .scheduled: 0
    case .late: 1
    case .departed, .cancelled: 2
    }
  }
}

/// When steps are due, in seconds after the replay's start.
struct Pace {
  /// Simulated minutes in a second; nil for no waiting.
  let speed: Double?
  /// The longest pause: nights are quiet, and nothing would happen on the board.
  static let longestPause = 1.0

  func pause(from last: Timeline.Step?, to next: Timeline.Step) -> Duration {
    guard let speed, let last else { return .zero }
    let seconds = Double(next.moment.minutes - last.moment.minutes) / speed
    return .seconds(min(max(0, seconds), Self.longestPause))
  }
}
