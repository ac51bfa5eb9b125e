import Foundation
import Martlet
import MartletRuntime
import MartletSimulation
import MartletTesting
import MartletVocabulary
import MartletWire
import Testing

/// The life of the client's WebSocket as the application sees it.
@Suite struct SocketLifeTests {
  @Test func `connection events report each step, with payloads, codes and reasons`() throws {
    let executor = SimulatedExecutor(seed: 1)
    let loop = executor.makeLoop()
    let server = ScriptedServer(loop: loop)
    server.acknowledgement = ["hello": 1]
    let client = try GraphQLClient(
      url: try #require(URL(string: "ws://example.test/graphql")), environment: server.environment)
    let events = client.connectionEvents
    let stream = client.subscribe("subscription { tick }")
    executor.run(for: .milliseconds(1))
    loop.execute { server.socket?.say(#"{"type":"ping","payload":{"a":1}}"#) }
    executor.run(for: .seconds(16))
    loop.execute { server.socket?.end(1012, "restart") }
    executor.run(for: .seconds(2))
    client.shutDown()
    executor.run(for: .milliseconds(1))
    let seen = try executor.run {
      var seen: [ConnectionEvent] = []
      for await event in events { seen.append(event) }
      return seen
    }
    let expected: [ConnectionEvent] = [
      .connected(payload: ["hello": 1]), .ping(payload: ["a": 1]), .pong(payload: nil),
      .disconnected(code: 1012, reason: "restart"), .reconnected(payload: ["hello": 1]),
      .disconnected(code: 1000, reason: ""),
    ]
    #expect(seen == expected)
    #expect(stream.state.isFinished)
  }

  @Test func `a server that acknowledges and then drops meets the limit of attempts`() throws {
    var policy = ReconnectPolicy()
    policy.attempts = 3
    policy.stableAfter = .seconds(5)
    var machine = RetryMachine(policy)
    var random = SeededRandom(seed: 1)
    var now = Instant.zero
    func drop(after life: Duration, withEvent: Bool = false) -> Bool {
      machine.acknowledged(at: now)
      if withEvent { machine.progressed() }
      now = now + life
      if case .retry = machine.failed(.passing(), at: now, using: &random) { return true }
      return false
    }
    #expect([drop(after: .seconds(1)), drop(after: .seconds(1)), drop(after: .seconds(1))] == [true, true, true])
    #expect(machine.failures == 3)
    #expect(drop(after: .seconds(5)))
    #expect(machine.failures == 1)
    for _ in 0..<20 { #expect(drop(after: .seconds(1), withEvent: true)) }
    #expect(machine.failures == 1)
    #expect([drop(after: .seconds(4)), drop(after: .seconds(4)), drop(after: .seconds(4))] == [true, true, false])
  }

  @Test func `sockets of one seed draw different chance, and the same seed draws it again`() {
    func drawn() -> [UInt64] {
      let chance = Chance(seed: 5)
      return (1...4).map { _ in
        var generator: any RandomNumberGenerator = chance.fork()
        return generator.next()
      }
    }
    #expect(Set(drawn()).count == 4)
    #expect(drawn() == drawn())
  }

  @Test func `dates, data, URLs and decimals are written and read as servers mean them`() throws {
    struct Values: Codable, Equatable, Sendable {
      var due: Date
      var raw: Data
      var link: URL
      var price: Decimal
    }
    let values = Values(
      due: Date(timeIntervalSince1970: 1_700_000_000.125), raw: Data([0, 255]),
      link: try #require(URL(string: "https://example.test/a?b=c")), price: try #require(Decimal(string: "19.99")))
    let server = ScriptedHTTPServer { _, request in
      .json(#"{"data":\#(request.body["variables"] ?? .null)}"#)
    }
    let client = try server.client()
    let answer = try server.executor.run { try await client.query("{ v }", variables: values, as: Values.self) }
    #expect(answer.data == values)
    #expect(server.requests.first?.body["variables"]?["due"] == "2023-11-14T22:13:20.125Z")
    #expect(server.requests.first?.body["variables"]?["price"] == 19.99)
    #expect(server.executor.foreignEnqueues == 0)
    let error = try server.executor.failure { _ = try await client.query("{ v }", variables: [1, 2]) }
    #expect(error?.code == .invalidRequest)
    let stream = client.subscribe("subscription { v }", variables: [1, 2])
    #expect(stream.state.description.contains("invalidRequest"))
  }
}
