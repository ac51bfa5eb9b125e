import Foundation
import Martlet
import MartletSimulation
import MartletTesting
import Testing

@Suite struct GraphQLClientTests {
  private struct Board: Decodable, Sendable, Equatable {
    var tick: Int
  }

  @Test func `results decode into the caller's type, and a wrong shape ends the loop and the state alike`() throws {
    let executor = SimulatedExecutor(seed: 1)
    let loop = executor.makeLoop()
    let server = ScriptedServer(loop: loop)
    let environment = server.environment
    let client = try GraphQLClient(
      url: try #require(URL(string: "ws://example.test/graphql")), environment: environment)
    let stream = client.subscribe("subscription { tick }", as: Board.self)
    executor.run(for: .milliseconds(1))
    loop.execute {
      server.socket?.say(#"{"id":"1","type":"next","payload":{"data":{"tick":7},"errors":[{"message":"late"}]}}"#)
      server.socket?.say(#"{"id":"1","type":"next","payload":{"data":{"tick":"x"}}}"#)
    }
    let (first, code) = try executor.run {
      var iterator = stream.makeAsyncIterator()
      let first = try await iterator.next()
      do {
        _ = try await iterator.next()
        return (first, "none")
      } catch let error as GraphQLClientError { return (first, error.code.description) }
    }
    #expect(first?.data == Board(tick: 7))
    #expect(first?.errors.first?["message"] == "late")
    #expect(code == "decodingFailed")
    #expect(stream.state.description.contains("decodingFailed"))
    #expect(throws: GraphQLClientError.self) {
      try GraphQLClient(url: try #require(URL(string: "ftp://example.test")), environment: environment)
    }
  }
}
