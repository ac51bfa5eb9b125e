import Foundation
import Martlet
import MartletTesting

/// A test of a screen's code without a network: the server is a script and the time is virtual.
enum ScriptServer {
  static func lines() throws -> [String] {
    let time = VirtualTime()
    let server = ScriptedServer(time)
    guard let url = URL(string: "ws://example.test/graphql") else { return [] }
    let client = try GraphQLClient(url: url, environment: server.environment)
    return try time.run {
      async let seen = ticks(client)
      let first = try await server.accept()
      first.next(try await first.expectOperation().id, data: ["tick": 1])
      first.cut()
      let second = try await server.accept()
      let id = try await second.expectOperation().id
      second.next(id, data: ["tick": 2])
      second.complete(id)
      return try await seen
    }
  }

  private static func ticks(_ client: GraphQLClient) async throws -> [String] {
    var lines: [String] = []
    for try await result in client.subscribe("subscription { tick }") {
      lines.append(result.gap == nil ? "\(result.data?["tick"] ?? .null)" : "gap")
    }
    return lines
  }
}
