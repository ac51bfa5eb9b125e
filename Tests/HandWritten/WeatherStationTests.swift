import Foundation
import Martlet
import MartletServer
import Testing

@testable import HandWritten

@Suite struct WeatherStationTests {
  private func running(_ body: (WeatherStation, GraphQLClient) async throws -> Void) async throws {
    let station = try WeatherStation(port: 0)
    try station.server.start()
    let url = try #require(URL(string: "ws://127.0.0.1:\(station.server.port)/graphql"))
    let client = try GraphQLClient(url: url)
    do {
      try await body(station, client)
    } catch {
      await station.server.stop()
      throw error
    }
    client.shutDown()
    await station.server.stop()
  }

  @Test func `a server serves once: a second start and one after its end are typed errors`() async throws {
    let station = try WeatherStation(port: 0)
    try station.server.start()
    let port = station.server.port
    #expect(throws: ServerError.self) { try station.server.start() }
    #expect(station.server.port == port)
    // A start that failed may be tried again.
    let other = try WeatherStation(port: port)
    for _ in 1...2 {
      do {
        try other.server.start()
        Issue.record("two servers have one port")
      } catch {
        #expect(error.code == .addressInUse)
      }
    }
    await station.server.stop()
    try other.server.start()
    #expect(other.server.port == port)
    await other.server.stop()
    do {
      try station.server.start()
      Issue.record("it serves without its store")
    } catch {
      #expect(error.code == .notStartable)
    }
  }

  @Test func `fields are answered by Swift code`() async throws {
    try await running { _, client in
      let response = try await client.query("{ stations fahrenheit(celsius: 100) }", as: JSONValue.self)
      #expect(response.data == ["stations": ["roof", "cellar"], "fahrenheit": 212.0])
      #expect(response.errors.isEmpty)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `published readings reach the subscribers of their station, with cursors`() async throws {
    try await running { station, client in
      let stream = client.subscribe(
        "subscription { readings(station: \"roof\") { celsius fahrenheit } }", as: JSONValue.self)
      try await stream.ready()
      try await station.report(station: "cellar", celsius: 5)
      try await station.report(station: "roof", celsius: 20)
      try await station.report(station: "roof", celsius: 25)
      var seen: [JSONValue?] = []
      for try await reading in stream {
        #expect(reading.cursor != nil)
        seen.append(reading.data?["readings"]?["fahrenheit"])
        if seen.count == 2 { break }
      }
      #expect(seen.map { $0?.double } == [68, 77])
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `who comes back with a cursor gets the readings in between`() async throws {
    try await running { station, client in
      let document = "subscription { readings(station: \"roof\") { celsius } }"
      let first = client.subscribe(document, as: JSONValue.self)
      try await first.ready()
      try await station.report(station: "roof", celsius: 1)
      var iterator = first.makeAsyncIterator()
      let cursor = try #require(try await iterator.next()?.cursor)
      first.cancel()
      try await station.report(station: "roof", celsius: 2)
      let second = client.subscribe(document, as: JSONValue.self, from: .after(cursor))
      var back = second.makeAsyncIterator()
      #expect(try await back.next()?.data?["readings"]?["celsius"]?.double == 2)
    }
  }
}
