import Foundation
import Martlet
import MartletRuntime
import MartletSimulation
import Testing

/// Mutations that apply once although their answers are lost (P16).
@Suite struct WriteNumberTests {
  private typealias Reply = ScriptedHTTPServer.Reply
  private static let agreed = Reply.json(#"{"data":{"n":1},"extensions":{"martlet":{"writes":true}}}"#)
  private static let plain = Reply.json(#"{"data":{"n":1}}"#)

  private static func numbers(_ server: ScriptedHTTPServer) -> [Int64?] {
    server.requests.map { $0.body["extensions"]?["martlet"]?["write"]?["number"]?.int }
  }

  @Test func `once a server has said that it remembers, a lost answer is asked for again under the same number`() throws
  {
    let script = [
      Self.agreed, .cut, .cutAfter("HTTP/1.1 200 OK\r\n"), .json("", status: 503), Self.agreed, Self.agreed,
    ]
    let server = ScriptedHTTPServer { number, _ in script[number - 1] }
    let client = try server.client()
    try server.executor.run {
      for _ in 1...3 { try await client.mutate("mutation { n }", appliesOnce: true) }
    }
    #expect(Self.numbers(server) == [1, 2, 2, 2, 2, 3])
    let names = Set(server.requests.map { $0.body["extensions"]?["martlet"]?["write"]?["client"]?.string })
    #expect(names.count == 1)
    #expect(names.first??.isEmpty == false)
  }

  private static func writes(_ server: ScriptedHTTPServer) -> [String] {
    server.requests.map { request in
      let write = request.body["extensions"]?["martlet"]?["write"]
      let mark = write?["resend"]?.bool == true ? " again" : ""
      return "\(write?["number"]?.int ?? 0) after \(write?["acknowledged"]?.int ?? -1)\(mark)"
    }
  }

  @Test func `a write acknowledges those that have ended, and what is sent again says so`() throws {
    let script = [Reply.cut, Self.agreed, .cut, .cut, Self.agreed, Self.agreed]
    let server = ScriptedHTTPServer { number, _ in script[number - 1] }
    let client = try server.client { $0.assumesWriteNumbers = true }
    try server.executor.run {
      for _ in 1...3 { try await client.mutate("mutation { n }", appliesOnce: true) }
    }
    // The server may not know a client whose first write was lost: that one is not marked.
    #expect(
      Self.writes(server) == ["1 after 0", "1 after 0", "2 after 1", "2 after 1 again", "2 after 1 again", "3 after 2"])
  }

  @Test func `a write does not acknowledge one that is still under way`() throws {
    let server = ScriptedHTTPServer { number, _ in number == 1 ? .silence : Self.agreed }
    let client = try server.client {
      $0.assumesWriteNumbers = true
      $0.requestTimeout = .seconds(10)
    }
    try server.executor.run {
      async let first = try? client.mutate("mutation { first }", appliesOnce: true)
      await server.executor.sleep(.seconds(1))
      for _ in 1...2 { try await client.mutate("mutation { n }", appliesOnce: true) }
      _ = await first
      // Its caller no longer waits, so it is not sent again either.
      try await client.mutate("mutation { n }", appliesOnce: true)
    }
    #expect(Self.writes(server) == ["1 after 0", "2 after 0", "3 after 0", "4 after 3"])
  }

  @Test func `a server that has not said so gets nothing twice, unless the configuration says it remembers`() throws {
    let script = [Self.plain, .cut, Self.plain]
    for assumes in [false, true] {
      let server = ScriptedHTTPServer { number, _ in script[number - 1] }
      let client = try server.client { $0.assumesWriteNumbers = assumes }
      let error = try server.executor.failure {
        for _ in 1...2 { try await client.mutate("mutation { n }", appliesOnce: true) }
      }
      #expect(error?.code == (assumes ? nil : .outcomeUnknown))
      #expect(Self.numbers(server) == (assumes ? [1, 2, 2] : [1, 2]))
    }
  }

  @Test func `repeats end at the deadline with an unknown outcome`() throws {
    let server = ScriptedHTTPServer { _, _ in .cut }
    let client = try server.client {
      $0.assumesWriteNumbers = true
      $0.requestTimeout = .seconds(10)
      $0.reconnect.attempts = nil
    }
    let error = try server.executor.failure { try await client.mutate("mutation { n }", appliesOnce: true) }
    #expect(error?.code == .outcomeUnknown)
    #expect(server.requests.count > 2)
    #expect(Set(Self.numbers(server)) == [1])
  }

  @Test func `two clients of one seed never share a name`() throws {
    let server = ScriptedHTTPServer { _, _ in Self.agreed }
    let environment = ClientEnvironment(
      loop: server.executor.makeLoop("client"), sockets: nil, http: nil,
      requests: .connections(server.network),
      spawner: server.executor.spawner, seed: 7)
    let url = try #require(URL(string: "http://server.test/graphql"))
    let clients = try (1...2).map { _ in try GraphQLClient(url: url, environment: environment) }
    try server.executor.run {
      for client in clients { try await client.mutate("mutation { n }", appliesOnce: true) }
    }
    let names = server.requests.map { $0.body["extensions"]?["martlet"]?["write"]?["client"]?.string }
    #expect(Set(names).count == 2)
  }
}
