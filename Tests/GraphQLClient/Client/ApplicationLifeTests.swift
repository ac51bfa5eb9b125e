import Foundation
import Martlet
import MartletRuntime
import MartletTesting
import Testing

/// A client that follows the application's life and the network's paths, with a driver in the system's place.
@Suite struct ApplicationLifeTests {
  /// Reports what the test says.
  private final class Driver: Sendable {
    typealias Surroundings = ApplicationSurroundings
    private struct Reports {
      var life: [@Sendable (Surroundings.Life) -> Void] = []
      var path: [@Sendable (Surroundings.Path) -> Void] = []
      var ends = 0
    }
    private let reports = Lock(Reports())

    var ends: Int { reports.withLock { $0.ends } }

    var surroundings: Surroundings {
      Surroundings(
        life: { report in
          self.reports.withLock { $0.life.append(report) }
          return { self.reports.withLock { $0.ends += 1 } }
        },
        path: { report in
          self.reports.withLock { $0.path.append(report) }
          return { self.reports.withLock { $0.ends += 1 } }
        })
    }

    func report(_ life: Surroundings.Life) {
      for report in reports.withLock({ $0.life }) { report(life) }
    }

    func report(_ interface: String, isUsable: Bool = true) {
      for report in reports.withLock({ $0.path }) {
        report(Surroundings.Path(isUsable: isUsable, interface: interface))
      }
    }
  }

  @Test func `only changes are acted on, and nothing hastens while the application is in the background`() {
    var life = ApplicationLife()
    let wifi = ApplicationSurroundings.Path(isUsable: true, interface: "wifi")
    let none = ApplicationSurroundings.Path(isUsable: false, interface: "")
    #expect(life.received(.foreground) == .none)
    #expect(life.received(wifi) == .none)
    #expect(life.received(wifi) == .none)
    #expect(life.received(none) == .none)
    #expect(life.received(wifi) == .hasten)
    #expect(life.received(ApplicationSurroundings.Path(isUsable: true, interface: "cellular")) == .hasten)
    #expect(life.received(.background) == .pause)
    #expect(life.received(.background) == .none)
    #expect(life.received(wifi) == .none)
    #expect(life.received(.foreground) == .resume)
  }

  @Test func `the background pauses the client, and the foreground resumes its subscriptions`() throws {
    let time = VirtualTime()
    let server = ScriptedServer(time)
    let url = try #require(URL(string: "wss://example.test/graphql"))
    let client = try GraphQLClient(url: url, environment: server.environment)
    let driver = Driver()
    client.life.follow(driver.surroundings, for: client)
    #expect(client.followsApplicationLife)
    let stream = client.subscribe("subscription { tick }")
    try time.run {
      let first = try await server.accept()
      try await first.expectOperation()
      driver.report(.background)
      try await first.expectClose()
      #expect("\(stream.state)" == "paused")
      await time.sleep(for: .seconds(3_600))
      #expect(server.attempts.count == 1)
      driver.report(.foreground)
      try await server.accept().expectOperation()
    }
    client.followsApplicationLife = false
    #expect(driver.ends == 2 && !client.followsApplicationLife)
    client.shutDown()
  }

  @Test func `another path to the network ends the pause before the next attempt, and leaves an open socket alone`()
    throws
  {
    let time = VirtualTime()
    let server = ScriptedServer(time)
    let url = try #require(URL(string: "wss://example.test/graphql"))
    var configuration = ConnectionConfiguration()
    configuration.reconnect.firstDelay = .seconds(20)
    configuration.reconnect.jitter = 0
    let client = try GraphQLClient(url: url, configuration: configuration, environment: server.environment)
    let driver = Driver()
    client.life.follow(driver.surroundings, for: client)
    driver.report("wifi")
    server.door = .refuses()
    let stream = client.subscribe("subscription { tick }")
    try time.run {
      await time.sleep(for: .seconds(1))
      #expect(server.attempts.count == 1)
      server.door = .open
      driver.report("cellular")
      let socket = try await server.accept(within: .seconds(1))
      try await socket.expectOperation()
      #expect(server.attempts.count == 2)
      // The pause that was cut short does not end a second time.
      driver.report("wifi")
      await time.sleep(for: .seconds(40))
      #expect(server.attempts.count == 2 && socket.isOpen)
      _ = stream
    }
    client.shutDown()
  }

  @Test func `a dropped client ends what it followed`() throws {
    let driver = Driver()
    do {
      let url = try #require(URL(string: "http://example.test/graphql"))
      let client = try GraphQLClient(url: url, environment: ScriptedServer(VirtualTime()).environment)
      client.life.follow(driver.surroundings, for: client)
    }
    #expect(driver.ends == 2)
  }
}
