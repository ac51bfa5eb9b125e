import Martlet

/// What the example asks of its server.
enum FlightDocuments {
  static let create =
    "mutation Announce($input: CreateFlightInput!) { createFlight(input: $input) { id } }"
  static let update =
    "mutation Change($input: UpdateFlightInput!) { updateFlight(input: $input) { id } }"
  static let status = "query Status($id: ID!) { getFlight(id: $id) { status } }"
  static let board = """
    subscription Board($origin: ID!) {
      departures(origin: $origin) { id carrier number destination scheduled status delay departed }
    }
    """

  static let around = """
    query Around($origin: ID!, $from: String!, $to: String!) {
      flightsByOrigin(origin: $origin, scheduled: {between: [$from, $to]}, limit: 1000) {
        items { id carrier number destination scheduled status delay departed }
      }
    }
    """

  static func isAnnouncement(_ step: Timeline.Step) -> Bool { step.status == .scheduled }

  /// The variables that write a step.
  static func input(of step: Timeline.Step) -> JSONObject {
    let flight = step.flight
    var input: JSONObject = ["id": .string(flight.id), "status": .string(step.status.rawValue)]
    if isAnnouncement(step) {
      input["origin"] = .string(flight.origin)
      input["destination"] = .string(flight.destination)
      input["carrier"] = .string(flight.carrier)
      input["number"] = .int(Int64(flight.number))
      input["scheduled"] = .string(flight.scheduled.description)
      if let tailNumber = flight.tailNumber { input["tailNumber"] = .string(tailNumber) }
      if let distance = flight.distance { input["distance"] = .int(Int64(distance)) }
    }
    if let delay = step.delay { input["delay"] = .int(Int64(delay)) }
    if let departed = step.departed { input["departed"] = .string(departed.description) }
    return input
  }

  /// What a board sees of a step: the oracle of the history.
  static func event(of step: Timeline.Step) -> JSONObject {
    let flight = step.flight
    return [
      "id": .string(flight.id), "carrier": .string(flight.carrier), "number": .int(Int64(flight.number)),
      "destination": .string(flight.destination), "scheduled": .string(flight.scheduled.description),
      "status": .string(step.status.rawValue), "delay": step.delay.map { .int(Int64($0)) } ?? .null,
      "departed": step.departed.map { .string($0.description) } ?? .null,
    ]
  }

  /// A mutation was refused.
  struct Refused: Error, CustomStringConvertible {
    let errors: [JSONValue]
    var description: String { errors.map { $0["message"]?.string ?? $0.description }.joined(separator: "\n") }
  }
}
