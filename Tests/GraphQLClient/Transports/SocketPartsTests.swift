import Foundation
import Martlet
import MartletTesting
import Testing

/// Answers in parts over a socket, where each part is a result of its own.
@Suite struct SocketPartsTests {
  @Test func `a query over a socket answers the whole, and one that is cut short fails`() throws {
    let time = VirtualTime()
    let server = ScriptedServer(time)
    let client = try GraphQLClient(
      url: try #require(URL(string: "ws://example.test/graphql")), configuration: WebSocketTransport.configuration,
      environment: server.environment)
    let first: JSONValue = [
      "data": ["hero": ["id": "1"]], "pending": [["id": "0", "path": ["hero"]]], "hasNext": true,
    ]
    let last: JSONValue = [
      "incremental": [["id": "0", "data": ["name": "Luke"]]], "completed": [["id": "0"]], "hasNext": false,
    ]
    let (answer, failure) = try time.run {
      async let answer = client.query("{ hero { id ... @defer { name } } }")
      let socket = try await server.accept()
      let id = try await socket.expect("subscribe")["id"] ?? .null
      socket.send(["id": id, "type": "next", "payload": first])
      socket.send(["id": id, "type": "next", "payload": last])
      socket.send(["id": id, "type": "complete"])
      let whole = try await answer.data
      async let cut = #expect(throws: GraphQLClientError.self) {
        try await client.query("{ hero { id ... @defer { name } } }")
      }
      let next = try await socket.expect("subscribe")["id"] ?? .null
      socket.send(["id": next, "type": "next", "payload": first])
      socket.send(["id": next, "type": "complete"])
      return (whole, await cut)
    }
    #expect(answer == ["hero": ["id": "1", "name": "Luke"]])
    #expect(failure?.code == .protocolViolation)
  }
}
