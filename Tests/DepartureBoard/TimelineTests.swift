import Foundation
import Testing

@testable import DepartureBoard

@Suite struct TimelineTests {
  static let data = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Examples/DepartureBoard/Data")

  @Test func `the week has 6,099 flights, each announced once and ended once`() throws {
    let text = try String(contentsOf: Self.data.appendingPathComponent("flights-week1.csv"), encoding: .utf8)
    let timeline = try Timeline(flights: try CSV(text))
    var announced: Set<String> = []
    var ended: Set<String> = []
    var previous = Moment(minutes: 0)
    for step in timeline.steps {
      #expect(step.moment >= previous)
      previous = step.moment
      switch step.status {
      case .scheduled:
        #expect(announced.insert(step.flight.id).inserted)
      case .late:
        #expect(announced.contains(step.flight.id) && !ended.contains(step.flight.id))
      case .departed, .cancelled:
        #expect(ended.insert(step.flight.id).inserted && announced.contains(step.flight.id))
      }
    }
    #expect(announced.count == 6_099)
    #expect(ended == announced)
    #expect(timeline.steps.filter { $0.status == .cancelled }.count == 35)
  }

  @Test func `a moment reads and writes the same text`() throws {
    for text in ["1970-01-01T00:00:00.000Z", "2013-01-01T10:05:00.000Z", "2012-02-29T23:59:00.000Z"] {
      let short = text.replacingOccurrences(of: ".000Z", with: "Z")
      #expect(try #require(Moment(short)).description == text)
    }
    #expect(Moment("2013-13-01T10:00:00Z") == nil)
    #expect(Moment("tomorrow") == nil)
  }

  @Test func `quoted cells, doubled quotes and CRLF are read, a broken row is named`() throws {
    let csv = try CSV("a,b\r\n\"x, \"\"y\"\"\",NA\r\n1,2\n")
    #expect(csv.rows.count == 2)
    #expect(csv.rows[0]["a"] == "x, \"y\"")
    #expect(csv.rows[0]["b"] == nil)
    #expect(csv.rows[1].integer("b") == 2)
    #expect(throws: CSV.Malformed.self) { try CSV("a,b\n1\n") }
    #expect(throws: CSV.Malformed.self) { try CSV("a,b\n\"1,2\n") }
  }
}
