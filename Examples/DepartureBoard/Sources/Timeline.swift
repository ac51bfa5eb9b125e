/// What happened in the week, in order, computed from the data file alone.
struct Timeline {
  enum Status: String {
    case scheduled = "SCHEDULED"
    case late = "LATE"
    case departed = "DEPARTED"
    case cancelled = "CANCELLED"
  }

  /// A departure as announced.
  struct Flight {
    let id: String
    let origin: String
    let destination: String
    let carrier: String
    let number: Int
    let tailNumber: String?
    let scheduled: Moment
    let distance: Int?
    /// Minutes behind the schedule; nil when it never left.
    let delay: Int?
  }

  /// One step in a flight's life. The first is its creation, the others are updates.
  struct Step {
    let moment: Moment
    let flight: Flight
    let status: Status
    /// What the board shows as delay with this step.
    let delay: Int?
    let departed: Moment?
  }

  struct Malformed: Error, CustomStringConvertible {
    let row: Int
    let column: String
    var description: String { "row \(row): column \(column) is missing or wrong" }
  }

  let steps: [Step]

  /// A flight appears on the board this many minutes before it should leave.
  static let announcement = 180
  /// More minutes behind the schedule than this make a flight late.
  static let tolerance = 15

  init(flights: CSV) throws {
    var steps: [(order: Int, step: Step)] = []
    for (index, row) in flights.rows.enumerated() {
      let flight = try Self.flight(row, number: index + 2)
      for step in Self.life(of: flight) { steps.append((steps.count, step)) }
    }
    steps.sort { ($0.step.moment, $0.order) < ($1.step.moment, $1.order) }
    self.steps = steps.map(\.step)
  }

  private static func life(of flight: Flight) -> [Step] {
    let announced = Step(
      moment: flight.scheduled + -announcement, flight: flight, status: .scheduled, delay: nil, departed: nil)
    guard let delay = flight.delay else {
      return [
        announced,
        Step(moment: flight.scheduled, flight: flight, status: .cancelled, delay: nil, departed: nil),
      ]
    }
    let left = flight.scheduled + delay
    let departed = Step(moment: left, flight: flight, status: .departed, delay: delay, departed: left)
    guard delay > tolerance else { return [announced, departed] }
    return [
      announced,
      Step(moment: flight.scheduled, flight: flight, status: .late, delay: delay, departed: nil),
      departed,
    ]
  }

  private static func flight(_ row: CSV.Row, number: Int) throws -> Flight {
    func required<Value>(_ value: Value?, _ column: String) throws -> Value {
      guard let value else { throw Malformed(row: number, column: column) }
      return value
    }
    let hour = try required(row["time_hour"].flatMap { Moment($0) }, "time_hour")
    let minute = try required(row.integer("minute"), "minute")
    let carrier = try required(row["carrier"], "carrier")
    let flightNumber = try required(row.integer("flight"), "flight")
    let origin = try required(row["origin"], "origin")
    let year = try required(row.integer("year"), "year")
    let month = try required(row.integer("month"), "month")
    let day = try required(row.integer("day"), "day")
    let date = "\(year)-\(month < 10 ? "0" : "")\(month)-\(day < 10 ? "0" : "")\(day)"
    return Flight(
      id: "\(date)-\(carrier)-\(flightNumber)-\(origin)", origin: origin,
      destination: try required(row["dest"], "dest"), carrier: carrier, number: flightNumber,
      tailNumber: row["tailnum"], scheduled: hour + minute, distance: row.integer("distance"),
      delay: row["dep_time"] == nil ? nil : row.integer("dep_delay"))
  }
}
