import Martlet
import MartletRuntime
import MartletSimulation
import Testing

/// What a lost connection means to a request by HTTP.
@Suite struct HTTPLossTests {
  private typealias Reply = ScriptedHTTPServer.Reply
  private static let fine = Reply.json(#"{"data":{"n":1}}"#)
  private static let half = Reply.cutAfter("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{")

  @Test func `a query on a kept connection that was just closed is sent once more on a fresh one`() throws {
    let server = ScriptedHTTPServer { number, _ in number == 2 ? .cut : Self.fine }
    let client = try server.client()
    try server.executor.run {
      _ = try await client.query("{ a }")
      _ = try await client.query("{ b }")
    }
    #expect(server.requests.map(\.connection) == [1, 1, 2])
  }

  @Test func `a query is not sent again on a first connection, after a part of the answer, or twice`() throws {
    for script in [[Reply.cut], [Self.fine, Self.half], [Self.fine, .cut, .cut]] {
      let server = ScriptedHTTPServer { number, _ in script[number - 1] }
      let client = try server.client()
      let error = try server.executor.failure { for _ in 1...3 { _ = try await client.query("{ n }") } }
      #expect(error?.code == .connectionLost)
      #expect(server.requests.count == script.count)
    }
  }

  @Test func `a mutation is never sent again and its outcome is unknown`() throws {
    for script in [[Reply.cut], [Self.fine, Reply.cut], [Self.fine, Self.half], [.bytes("HTTP/9 what\r\n\r\n")]] {
      let server = ScriptedHTTPServer { number, _ in script[number - 1] }
      let client = try server.client()
      let error = try server.executor.failure { for _ in 1...2 { try await client.mutate("mutation { n }") } }
      #expect(error?.code == .outcomeUnknown)
      #expect(server.requests.count == script.count)
    }
  }

  @Test func `a request that was never sent has no unknown outcome`() throws {
    let server = ScriptedHTTPServer { _, _ in Self.fine }
    server.network.conditions.refuses = true
    let client = try server.client { $0.reconnect = .never }
    #expect(try server.executor.failure { try await client.mutate("mutation { n }") }?.code == .connectFailed)
    let patient = try server.client()
    let network = server.network
    let loop = server.executor.makeLoop("repair")
    loop.execute { loop.schedule(at: loop.now + .seconds(3)) { network.conditions.refuses = false } }
    #expect(try server.executor.run { try await patient.mutate("mutation { n }").data?["n"] } == 1)
    #expect(server.requests.count == 1)
    server.network.conditions.isPartitioned = true
    let slow = try server.client { $0.requestTimeout = .seconds(1) }
    #expect(try server.executor.failure { try await slow.mutate("mutation { n }") }?.code == .timeout)
  }

  @Test func `a shutdown fails what is under way and what follows`() throws {
    let server = ScriptedHTTPServer { _, _ in .silence }
    let client = try server.client()
    let codes = Recorder<String>()
    for isMutation in [true, false] {
      server.executor.spawner.spawn {
        do {
          if isMutation { try await client.mutate("mutation { n }") } else { _ = try await client.query("{ n }") }
        } catch { codes.add("\(isMutation) \((error as? GraphQLClientError)?.code.description ?? "")") }
      }
    }
    server.executor.run(for: .seconds(1))
    client.shutDown()
    server.executor.run(for: .seconds(1))
    #expect(codes.all.sorted() == ["false shutDown", "true outcomeUnknown"])
    #expect(server.network.links.isEmpty)
    #expect(try server.executor.failure { _ = try await client.query("{ n }") }?.code == .shutDown)
  }
}
