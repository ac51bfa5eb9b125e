import Testing

@testable import DepartureBoard

@Suite struct BoardTests {
  private static let names = Names(
    airports: ["JFK": "John F Kennedy Intl", "LAX": "Los Angeles Intl"], airlines: ["UA": "United Air Lines Inc."],
    origins: ["JFK"])
  private static let start = ContinuousClock.now

  private static func line(
    _ number: Int64, _ clock: String, _ status: Timeline.Status, delay: Int? = nil, departed: String? = nil
  ) -> Board.Line {
    Board.Line(
      id: "2013-01-01-UA-\(number)-JFK", carrier: "UA", number: number, destination: "LAX",
      scheduled: Moment("2013-01-01T\(clock):00Z"), status: status, delay: delay,
      departed: departed.flatMap { Moment("2013-01-01T\($0):00Z") }, cursor: "1-1")
  }

  private static func board(_ lines: Board.Line...) -> Board {
    var board = Board(airport: "JFK", names: names)
    for line in lines { board.show(line, now: start) }
    return board
  }

  private static func rendered(
    _ board: Board, rows: Int = 12, columns: Int = 80, colors: Bool = false, after: Duration = .seconds(5),
    _ frame: Board.Frame = Board.Frame(state: "live", footer: ["http://127.0.0.1:8080/graphql"])
  ) -> [String] {
    board.rendered(frame, size: TerminalSize(rows: rows, columns: columns), colors: colors, now: start + after)
  }

  @Test func `a flight has one row that changes in place, and rows are in the order of the schedule`() {
    let board = Self.board(
      Self.line(7, "12:30", .scheduled), Self.line(5, "12:10", .scheduled),
      Self.line(5, "12:10", .late), Self.line(5, "12:10", .departed, delay: 25, departed: "12:35"))
    let lines = Self.rendered(board)
    #expect(lines[0].hasPrefix("  JFK John F Kennedy Intl   Tue 1 Jan 07:35   live · 4 events"))
    #expect(lines[3].contains("07:10  UA 5     United Air Li") && lines[3].hasSuffix("left 07:35, 25 min late"))
    #expect(lines[4].contains("07:30  UA 7") && lines[4].hasSuffix("on time"))
    #expect(lines.filter { $0.contains("UA 5") }.count == 1)
    #expect(lines.last == "  http://127.0.0.1:8080/graphql")
    #expect(lines.count == 12)
  }

  @Test(arguments: [20, 40, 57, 80, 200], [4, 10, 50])
  func `no line is wider than the terminal, and no more lines than it has`(columns: Int, rows: Int) {
    var board = Board(airport: "JFK", names: Self.names)
    for number in 0..<30 as Range<Int64> { board.show(Self.line(number, "12:\(10 + number)", .late), now: Self.start) }
    for colors in [false, true] {
      let lines = Self.rendered(board, rows: rows, columns: columns, colors: colors)
      #expect(lines.count <= rows)
      for line in lines {
        let seen = line.replacing(/\u{1B}\[[0-9]*m/, with: "")
        #expect(seen.count <= columns, "\(seen)")
      }
    }
  }

  @Test func `without colours there are no codes`() {
    let board = Self.board(Self.line(5, "12:10", .cancelled))
    #expect(Self.rendered(board).allSatisfy { !$0.contains("\u{1B}") })
    #expect(Self.rendered(board, colors: true).contains { $0.contains("\u{1B}[31mcancelled\u{1B}[0m") })
  }

  @Test func `a change stands out for a moment, what was there before does not`() {
    var board = Self.board(Self.line(5, "12:10", .late))
    board.fill(Self.line(7, "12:30", .scheduled))
    let soon = Self.rendered(board, after: .milliseconds(100))
    #expect(soon[3].hasPrefix("▸ 07:10") && soon[4].hasPrefix("  07:30"))
    #expect(Self.rendered(board, after: .seconds(2))[3].hasPrefix("  07:10"))
  }

  @Test func `a flight that has left stays half an hour of the replay`() {
    var board = Self.board(
      Self.line(5, "12:10", .departed, delay: 0, departed: "12:10"), Self.line(7, "12:30", .scheduled))
    board.advance(to: Moment("2013-01-01T12:40:00Z") ?? Moment(minutes: 0))
    #expect(Self.rendered(board).contains { $0.contains("UA 5") })
    board.advance(to: Moment("2013-01-01T12:41:00Z") ?? Moment(minutes: 0))
    #expect(!Self.rendered(board).contains { $0.contains("UA 5") })
    #expect(Self.rendered(board).contains { $0.contains("UA 7") })
  }

  @Test func `an empty board says why it is empty`() {
    let none = Board(airport: "JFK", names: Self.names)
    #expect(Self.rendered(none)[3] == "  No departures yet: flights are announced three hours ahead.")
    let over = Board.Frame(state: "live", replayed: 5, total: 5)
    #expect(Self.rendered(none, over)[3] == "  The week is over.")
    let other = Board(airport: "XYZ", names: Self.names)
    #expect(Self.rendered(other)[3] == "  XYZ has no departures in this week's data; JFK have.")
  }
}
