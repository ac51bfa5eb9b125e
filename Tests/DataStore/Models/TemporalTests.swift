import Foundation
import MartletDataStore
import MartletSimulation
import MartletVocabulary
import Testing

@Suite struct TemporalTests {
  @Test(arguments: [
    ("2026-11-22T17:52Z", "2026-11-22T17:52:00.000Z"), ("2026-11-22T17:52:26Z", "2026-11-22T17:52:26.000Z"),
    ("2026-11-22T17:52:26.5+02:00", "2026-11-22T17:52:26.500+02:00"),
    ("0001-01-01T00:00:00.1239-03:30:15", "0001-01-01T00:00:00.123-03:30:15"),
  ])
  func `a moment is read in its short forms and written in the fullest`(text: String, full: String) throws {
    #expect(try Temporal.DateTime(iso8601: text).iso8601 == full)
    #expect(try Temporal.DateTime(iso8601: full).iso8601 == full)
  }

  @Test(arguments: [
    "", "2026-11-22", "2026-11-22T", "2026-11-22T25:00Z", "2026-02-29T10:00Z", "2026-13-01T10:00Z",
    "2026-11-22T10:00Zx",
    "2026-11-22T10:00:00.Z", "2026-11-22T10:00+2", "26-11-22T10:00Z", "２026-11-22T10:00Z",
  ])
  func `other texts are refused with what was expected`(text: String) {
    #expect(throws: Temporal.FormatError.self) { try Temporal.DateTime(iso8601: text) }
  }

  @Test func `moments compare by what they mean, whatever their offsets`() throws {
    let early = try Temporal.DateTime(iso8601: "2026-11-22T12:00+02:00")
    let late = try Temporal.DateTime(iso8601: "2026-11-22T10:30Z")
    let same = try Temporal.DateTime(iso8601: "2026-11-22T10:00Z")
    #expect(early < late && early == same)
    #expect(try Temporal.Time(iso8601: "12:00+02:00") == Temporal.Time(iso8601: "10:00Z"))
    #expect(try Temporal.Date(iso8601: "2026-11-22") == Temporal.Date(year: 2026, month: 11, day: 22))
    #expect(Temporal.Date(year: 2026, month: 2, day: 29) == nil)
  }

  /// What stores compare by, against the types.
  @Test func `texts mean the moments that values mean`() throws {
    for text in RandomPredicates.moments + ["0000-01-01T00:00Z", "9999-12-31T23:59:59.999999-23:59:59", "10:00x", "1"] {
      let moment = MomentText(text)
      let date = try? Temporal.DateTime(iso8601: text).milliseconds
      let day = try? Temporal.Date(iso8601: text).milliseconds
      let time = try? Temporal.Time(iso8601: text).milliseconds
      #expect(moment?.milliseconds == date ?? day ?? time, "\(text)")
      if let moment { #expect(moment.isTime == (time != nil), "\(text)") }
    }
  }

  @Test func `a store compares, sorts and sums up dates by their moments, and returns the text that was given`()
    async throws
  {
    struct Moment: StoredModel, Equatable {
      var id: String
      var at: Temporal.DateTime?
      enum CodingKeys: String, ModelKey { case id, at }
      static var indexes: [StoredIndex] { [StoredIndex("byAt", fields: "at")] }
    }
    let texts = ["2026-11-22T13:00:00.000+04:00", "2026-11-22T10:00:00.000Z", "2026-11-22T05:00:00.000-05:00"]
    let store = try DataStore(models: [Moment.self], storage: .inMemory)
    for (number, text) in texts.enumerated() {
      _ = try await store.save(Moment(id: "\(number)", at: try Temporal.DateTime(iso8601: text)))
    }
    func ids(_ predicate: QueryPredicate) async throws -> [String] {
      try await store.query(Moment.self, where: predicate, sort: .ascending(Moment.keys.at)).map(\.id)
    }
    let ten = try Temporal.DateTime(iso8601: "2026-11-22T11:00+01:00")
    #expect(try await ids(.all) == ["0", "1", "2"])
    #expect(try await ids(Moment.keys.at == ten) == ["1", "2"])
    #expect(try await ids(Moment.keys.at != ten) == ["0"])
    #expect(try await ids(Moment.keys.at < ten) == ["0"])
    #expect(try await ids(Moment.keys.at >= ten) == ["1", "2"])
    let functions: [DataStoreAggregate] = [.minimum(Moment.keys.at), .maximum(Moment.keys.at)]
    #expect(try await store.aggregate(functions, of: Moment.self) == [.string(texts[0]), .string(texts[1])])
    #expect(try await store.query(Moment.self, byId: "2")?.at?.iso8601 == texts[2])
  }

  @Test func `steps respect the calendar`() throws {
    let leap = try #require(Temporal.Date(year: 2024, month: 1, day: 31))
    #expect((leap + .months(1)).iso8601 == "2024-02-29" && (leap + .years(1) + .months(1)).iso8601 == "2025-02-28")
    #expect((leap - .months(2)).iso8601 == "2023-11-30" && (leap + .days(366)).iso8601 == "2025-01-31")
    let night = try Temporal.DateTime(iso8601: "1969-12-31T23:30:00.000-05:00")
    #expect((night + .hours(1)).iso8601 == "1970-01-01T00:30:00.000-05:00")
    #expect((night - .weeks(1)).iso8601 == "1969-12-24T23:30:00.000-05:00")
    #expect(try (Temporal.Time(iso8601: "23:59") + .minutes(2)).iso8601 == "00:01:00.000")
    #expect(try (Temporal.Time(iso8601: "00:00:00.500") - .seconds(1)).iso8601 == "23:59:59.500")
  }

  /// Against Foundation's calendar.
  @Test func `days agree with the system's calendar over four thousand years`() throws {
    let formatter = ISO8601DateFormatter()
    formatter.formatOptions = [.withFullDate]
    // Before 1582 the system's calendar is the Julian one.
    for day in stride(from: -140_000, through: 1_000_000, by: 997) {
      let text = formatter.string(from: Date(timeIntervalSince1970: Double(day) * 86_400))
      let date = try #require(Temporal.Date(year: 1970, month: 1, day: 1)) + .days(day)
      #expect(date.iso8601 == text && date.milliseconds == Int64(day) * 86_400_000)
    }
  }

  @Test func `dates of the language and of Foundation are stored and found`() async throws {
    struct Moment: Model, Equatable {
      var id: String
      var at: Temporal.DateTime
      var day: Temporal.Date?
      var time: Temporal.Time
      var date: Date
      var url: URL?
      var amount: Decimal
      var token: UUID
      enum CodingKeys: String, ModelKey { case id, at, day, time, date, url, amount, token }
    }
    let store = try DataStore(models: [Moment.self], storage: .inMemory)
    let moment = Moment(
      id: "1", at: try Temporal.DateTime(iso8601: "2026-11-22T10:00Z"),
      day: Temporal.Date(year: 2026, month: 1, day: 2),
      time: try Temporal.Time(iso8601: "10:00"), date: Date(timeIntervalSince1970: 1_000),
      url: URL(string: "http://a/b"),
      amount: 12.5, token: UUID())
    #expect(try await store.save(moment) == moment)
    let later = try Temporal.DateTime(iso8601: "2026-11-22T10:00:01Z")
    #expect(try await store.query(Moment.self, where: Moment.keys.at < later) == [moment])
    #expect(try await store.query(Moment.self, where: Moment.keys.at >= later).isEmpty)
  }
}
