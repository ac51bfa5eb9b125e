import Martlet

/// Follows the departures of one airport: to the screen, and to a history file.
struct Viewer {
  let client: GraphQLClient
  let airport: String
  let screen: Screen

  /// What a viewer has seen, for the summary.
  struct Seen: Sendable {
    var events = 0
    var gaps = 0
    var last: Cursor?
  }

  func subscribe(from cursor: Cursor?) -> SubscriptionStream<GraphQLResponse<JSONValue>> {
    client.subscribe(
      FlightDocuments.board, variables: ["origin": .string(airport)], as: JSONValue.self,
      from: SubscriptionStart(after: cursor))
  }

  /// Shows events until the stream ends, or `limit` events are in the history or were seen.
  func follow(
    _ stream: SubscriptionStream<GraphQLResponse<JSONValue>>, history: History?, limit: Int?
  ) async throws -> Seen {
    var seen = Seen(last: history?.last)
    if let limit, let history, history.count >= limit { return seen }
    for try await response in stream {
      if let gap = response.gap {
        seen.gaps += 1
        try history?.append(gap)
        await screen.showGap(gap.reason.rawValue)
        continue
      }
      guard let event = response.data?["departures"]?.object else { continue }
      seen.events += 1
      seen.last = response.cursor ?? seen.last
      try history?.append(event, cursor: response.cursor)
      await screen.show(Self.line(event, cursor: response.cursor))
      if let limit, (history?.count ?? seen.events) >= limit { break }
    }
    return seen
  }

  static func line(_ event: JSONObject, cursor: Cursor?) -> Board.Line {
    func moment(_ field: String) -> Moment? { event[field]?.string.flatMap { Moment(String($0.prefix(19)) + "Z") } }
    return Board.Line(
      id: event["id"]?.string ?? "", carrier: event["carrier"]?.string ?? "", number: event["number"]?.int ?? 0,
      destination: event["destination"]?.string ?? "", scheduled: moment("scheduled"),
      status: event["status"]?.string.flatMap { Timeline.Status(rawValue: $0) },
      delay: event["delay"]?.int.map { Int($0) }, departed: moment("departed"), cursor: cursor?.description ?? "")
  }

  /// The flights around a moment of the replay as the server has them, for a board that begins in the middle of the
  /// week.
  func fill(around moment: Moment) async throws {
    let variables: JSONObject = [
      "origin": .string(airport), "from": .string((moment + -Timeline.announcement).description),
      "to": .string((moment + Timeline.announcement).description),
    ]
    let response = try await client.query(FlightDocuments.around, variables: variables, as: JSONValue.self)
    let flights = response.data?["flightsByOrigin"]?["items"]?.array ?? []
    await screen.fill(flights.compactMap { $0.object.map { Self.line($0, cursor: nil) } })
  }

  /// Reports the state of the connection to the screen.
  func tell(_ states: AsyncStream<SubscriptionState>) async {
    for await state in states {
      switch state {
      case .pending, .paused: await screen.show(state: "connecting")
      case .active: await screen.show(state: "live")
      case .reconnecting: await screen.show(state: "reconnecting")
      case .finished: return
      }
    }
  }
}
