import Foundation
import Martlet
import MartletTesting
import Testing

/// The test support as a stranger uses it: public API only.
@Suite struct PublicExampleTests {
  private func stage(
    _ configure: (inout ConnectionConfiguration) -> Void = { _ in }
  ) throws -> (VirtualTime, ScriptedServer, GraphQLClient) {
    let time = VirtualTime()
    let server = ScriptedServer(time)
    var configuration = ConnectionConfiguration()
    configure(&configuration)
    let url = try #require(URL(string: "wss://example.test/graphql"))
    let client = try GraphQLClient(url: url, configuration: configuration, environment: server.environment)
    return (time, server, client)
  }

  @Test func `a script plays a server that is cut and comes back`() throws {
    let (time, server, client) = try stage()
    server.acknowledgement = nil
    let ticks = try time.run {
      let stream = client.subscribe("subscription { tick }")
      let first = try await server.accept()
      try await first.expect("connection_init")
      first.send(["type": "connection_ack"])
      let id = try await first.expect("subscribe")["id"]?.string ?? ""
      first.next(id, data: ["tick": 1])
      first.cut()
      server.acknowledgement = JSONObject()
      let second = try await server.accept()
      try await second.expect("subscribe")
      second.next(id, data: ["tick": 2])
      second.complete(id)
      var ticks: [JSONValue?] = []
      for try await result in stream { ticks.append(result.gap == nil ? result.data?["tick"] : "gap") }
      return ticks
    }
    #expect(ticks == [1, "gap", 2])
    #expect(time.elapsed < .seconds(1))
  }

  @Test func `faults on demand: refusals, delays, silence and closes`() throws {
    let (time, server, client) = try stage()
    server.door = .refuses(status: 503)
    let stream = client.subscribe("subscription { tick }")
    time.advance(by: .milliseconds(100))
    #expect(server.attempts.map(\.target) == ["/graphql"])
    server.door = .open
    server.delay = .seconds(2)
    try time.run { try await stream.ready() }
    #expect(time.elapsed > .seconds(4))
    server.socket?.goSilent()
    try time.run {
      try await server.accept(); try await server.accept(within: .seconds(60))
    }
    #expect(server.sockets.count == 2)
    server.delay = .zero
    server.socket?.close(4400, reason: "no")
    time.advance(by: .seconds(1))
    #expect(stream.state.description.contains("connectionClosed: no (close code 4400)"))
  }

  @Test func `a script that does not fit says what came instead`() throws {
    let (time, server, client) = try stage()
    #expect(throws: ScriptError.self) {
      try time.run {
        let stream = client.subscribe("subscription { tick }")
        let socket = try await server.accept()
        try await socket.expect("complete")
        stream.cancel()
      }
    }
    #expect(throws: ScriptError.self) { try time.run { try await server.accept(within: .seconds(5)) } }
    #expect(throws: VirtualTime.Stuck.self) {
      try VirtualTime().run { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
    }
  }
}
