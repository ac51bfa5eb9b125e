import MartletGraphQLExecution
import MartletJSON
import MartletRuntime
import MartletServer
import Testing

/// Source streams of the program's own: how they end.
@Suite(.timeLimit(.minutes(1))) struct SourceStreamTests {
  @Test func `a source stream is cleaned up exactly once, whichever side ends it`() async throws {
    let ended = Lock(0)
    let (ends, told) = AsyncStream<Void>.makeStream()
    let schema = "type Query { hello: String } type Subscription { tick(upTo: Int): Int forever: Int }"
    try await Served.with(
      schema,
      {
        $0.resolvers = { resolvers in
          resolvers.resolve("Query", "hello") { _ in "hi" }
          for field in ["tick", "forever"] {
            resolvers.stream("Subscription", field) { request in
              let count = request.arguments["upTo"]?.int ?? Int64.max
              return AsyncStream<JSONValue> { continuation in
                continuation.onTermination = { _ in
                  ended.withLock { $0 += 1 }
                  told.yield()
                }
                for number in 0..<min(count, 3) { continuation.yield(.int(number)) }
                if count < Int64.max { continuation.finish() }
              }
            }
          }
        }
      }
    ) { server in
      var endings = ends.makeAsyncIterator()
      let socket = try await RawSocket.session(port: server.port)
      socket.subscribe("1", "subscription { tick(upTo: 2) }")
      for number in 0..<2 as Range<Int64> {
        #expect(try await socket.message("next")["payload"]?["data"]?["tick"] == .int(number))
      }
      _ = try await socket.message("complete")
      await endings.next()
      // The client leaves.
      socket.subscribe("2", "subscription { forever }")
      _ = try await socket.message("next")
      socket.send(#"{"id":"2","type":"complete"}"#)
      await endings.next()
      // The connection goes away.
      socket.subscribe("3", "subscription { forever }")
      while try await socket.message("next")["id"] != "3" {}
      socket.abort()
      await endings.next()
      #expect(ended.withLock { $0 } == 3)
    }
    #expect(ended.withLock { $0 } == 3)
  }
}
