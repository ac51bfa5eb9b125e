/// What the terminal shows: one row for each flight of an airport, in the order of the schedule, changing in place.
///
/// A value without a terminal or a clock: size and time are arguments.
struct Board {
  /// What an event says of a flight.
  struct Line {
    let id: String
    let carrier: String
    let number: Int64
    let destination: String
    let scheduled: Moment?
    let status: Timeline.Status?
    let delay: Int?
    let departed: Moment?
    let cursor: String

    /// `UA 1545`.
    var flight: String { "\(carrier) \(number)" }

    /// When the step of the event happened.
    var moment: Moment? {
      switch status {
      case .scheduled: scheduled.map { $0 + -Timeline.announcement }
      case .late, .cancelled: scheduled
      case .departed: departed
      case nil: nil
      }
    }
  }

  private struct Row {
    var line: Line
    /// When it was shown last; nil for what was there before the board.
    var changed: ContinuousClock.Instant?
  }

  /// How long a change stands out.
  static let highlight = Duration.milliseconds(1_500)
  /// A flight that has left or was cancelled stays this many simulated minutes.
  static let lingering = 30

  let airport: String
  let names: Names
  private var rows: [String: Row] = [:]
  private(set) var events = 0
  private(set) var gaps = 0
  /// The newest moment of the replay that the board knows of.
  private(set) var clock: Moment?

  init(airport: String, names: Names) {
    self.airport = airport
    self.names = names
  }

  mutating func show(_ line: Line, now: ContinuousClock.Instant) {
    events += 1
    rows[line.id] = Row(line: line, changed: now)
    if let moment = line.moment { advance(to: moment) }
  }

  /// Takes in a flight as it was before the board began.
  mutating func fill(_ line: Line) {
    if rows[line.id] == nil { rows[line.id] = Row(line: line) }
  }

  mutating func showGap() { gaps += 1 }

  /// The replay has come to a moment; flights that left long before go.
  mutating func advance(to moment: Moment) {
    guard moment > clock ?? Moment(minutes: .min) else { return }
    clock = moment
    rows = rows.filter { _, row in
      guard row.line.status == .departed || row.line.status == .cancelled, let end = row.line.moment else {
        return true
      }
      return end + Self.lingering >= moment
    }
  }

  // MARK: Drawing

  /// What stands around the rows.
  struct Frame {
    var state = "connecting"
    var replayed = 0
    var total = 0
    /// Lines at the bottom, such as the server's address.
    var footer: [String] = []

    var isOver: Bool { total > 0 && replayed == total }
  }

  /// The whole screen, top line first: as many lines as the terminal has at most, none wider than it is.
  func rendered(_ frame: Frame, size: TerminalSize, colors: Bool, now: ContinuousClock.Instant) -> [String] {
    var screen = [title(frame), StyledLine(), heading(size.columns)]
    let footer = frame.footer.map { StyledLine("  \($0)", .dim) }
    let room = max(1, size.rows - screen.count - footer.count - 2)
    let lines = sortedRows()
    if lines.isEmpty {
      screen.append(StyledLine("  " + emptyText(frame), .dim))
    } else {
      screen += lines.prefix(room).map { row($0, size.columns, now) }
    }
    if frame.isOver, !lines.isEmpty { screen.append(StyledLine("  The week is over.", .bold)) }
    while screen.count + footer.count < size.rows { screen.append(StyledLine()) }
    return (screen + footer).prefix(size.rows).map { $0.text(width: size.columns, colors: colors) }
  }

  private func sortedRows() -> [Row] {
    rows.values.sorted {
      ($0.line.scheduled?.minutes ?? 0, $0.line.flight) < ($1.line.scheduled?.minutes ?? 0, $1.line.flight)
    }
  }

  private func title(_ frame: Frame) -> StyledLine {
    var line = StyledLine("  \(airport)", .bold)
    if let name = names.airports[airport] { line.append(" \(name)") }
    if let clock { line.append("   \(clock.localDay) \(clock.localClock)", .bold) }
    line.append("   \(frame.state) · \(events) \(events == 1 ? "event" : "events")", .dim)
    if gaps > 0 { line.append(" · \(gaps) \(gaps == 1 ? "gap" : "gaps")", .red) }
    if frame.total > 0 { line.append(" · step \(frame.replayed) of \(frame.total)", .dim) }
    return line
  }

  private func emptyText(_ frame: Frame) -> String {
    if let absence { return absence }
    if frame.isOver { return "The week is over." }
    return "No departures yet: flights are announced three hours ahead."
  }

  /// Why the board will stay empty; nil for an airport with departures.
  var absence: String? {
    if names.origins.contains(airport) { return nil }
    return "\(airport) has no departures in this week's data; \(names.origins.sorted().joined(separator: ", ")) have."
  }

  /// Widths of the columns between time and status; narrow terminals show no airline.
  private static func widths(_ columns: Int) -> (airline: Int, destination: Int) {
    let rest = max(8, columns - 2 - 7 - 9 - 24)
    return rest < 32 ? (0, rest) : (rest * 2 / 5, rest - rest * 2 / 5)
  }

  private func heading(_ columns: Int) -> StyledLine {
    let widths = Self.widths(columns)
    return StyledLine(
      "  " + cell("time", 7) + cell("flight", 9) + cell("airline", widths.airline) + cell("to", widths.destination)
        + "status", .dim)
  }

  private func row(_ row: Row, _ columns: Int, _ now: ContinuousClock.Instant) -> StyledLine {
    let flight = row.line
    let widths = Self.widths(columns)
    let isNew = row.changed.map { now - $0 < Self.highlight } ?? false
    let destination = names.airports[flight.destination].map { "\($0) (\(flight.destination))" } ?? flight.destination
    var line = StyledLine(
      "\(isNew ? "▸ " : "  ")" + cell(flight.scheduled?.localClock ?? "--:--", 7) + cell(flight.flight, 9)
        + cell(names.airlines[flight.carrier] ?? flight.carrier, widths.airline)
        + cell(destination, widths.destination),
      isNew ? .bold : .plain)
    line.append(Self.status(of: flight), Self.style(of: flight.status), isBold: isNew)
    return line
  }

  static func status(of line: Line) -> String {
    switch line.status {
    case .scheduled: return "on time"
    case .late: return "delayed"
    case .cancelled: return "cancelled"
    case .departed:
      let late = line.delay.map { $0 > 0 ? ", \($0) min late" : "" } ?? ""
      return "left \(line.departed?.localClock ?? "")\(late)"
    case nil: return ""
    }
  }

  private static func style(of status: Timeline.Status?) -> StyledLine.Style {
    switch status {
    case .departed: .green
    case .late: .yellow
    case .cancelled: .red
    case .scheduled, nil: .plain
    }
  }

  /// Text in a column: cut with room before the next, never wrapped.
  private func cell(_ text: String, _ width: Int) -> String {
    guard width > 0 else { return "" }
    return text.count >= width
      ? String(text.prefix(max(0, width - 2))) + "… " : text + String(repeating: " ", count: width - text.count)
  }
}

/// Names that the data has for codes.
struct Names {
  var airports: [String: String] = [:]
  var airlines: [String: String] = [:]
  /// Airports from which flights leave.
  var origins: Set<String> = []
}

extension DataFiles {
  func names() throws -> Names {
    var names = Names()
    for row in try table("airports").rows { if let code = row["faa"] { names.airports[code] = row["name"] } }
    for row in try table("airlines").rows { if let code = row["carrier"] { names.airlines[code] = row["name"] } }
    names.origins = Set(try table("flights-week1").rows.compactMap { $0["origin"] })
    return names
  }
}
