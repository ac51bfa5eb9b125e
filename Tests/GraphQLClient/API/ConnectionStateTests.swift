import Foundation
import Martlet
import MartletTesting
import Testing

/// How the states of `Martlet.API`'s connection and those of the stream relate; the table of docs/guides/subscribe.md.
@Suite struct ConnectionStateTests {
  /// Consumes in a task of its own. Touched inside virtual time and between its runs.
  private final class Consumer: @unchecked Sendable {
    var news: [String] = []
    var error: String?
  }

  @Test func `each state of the stream has its news, in its order`() throws {
    let time = VirtualTime()
    let server = ScriptedServer(time)
    let url = try #require(URL(string: "wss://example.test/graphql"))
    let client = try GraphQLClient(url: url, environment: server.environment)
    let stream = Martlet.withClient(client) {
      Martlet.API.subscribe(request: .subscription(of: Writer.self, type: .onCreate))
    }
    let consumer = Consumer()
    let rows = try time.run {
      var rows: [String] = []
      func note() async {
        await time.sleep(for: .milliseconds(1))
        rows.append("\(stream.state): \(consumer.news.joined(separator: ", "))")
        consumer.news = []
      }
      async let consuming: Void = {
        do {
          for try await event in stream {
            switch event {
            case .connection(let state): consumer.news.append("\(state)")
            case .data: consumer.news.append("data")
            }
          }
        } catch { consumer.error = (error as? GraphQLClientError)?.code.description }
      }()
      server.door = .refuses()
      await note()
      server.door = .open
      let first = try await server.accept()
      let id = try await first.expect("subscribe")["id"]?.string ?? ""
      await note()
      first.next(id, data: ["onCreateWriter": ["id": "1"]])
      await note()
      first.cut()
      await note()
      let second = try await server.accept()
      try await second.expect("subscribe")
      await note()
      client.pause()
      await note()
      client.resume()
      let third = try await server.accept()
      try await third.expect("subscribe")
      await note()
      third.complete(id)
      await consuming
      await note()
      return rows
    }
    #expect(
      rows == [
        "pending: connecting, interrupted(refused, attempt 1)",
        "active: connected",
        "active: data",
        "reconnecting: interrupted(closed with code 1006, attempt 1)",
        "active: gap(serverCannotResume, from ?, to ?), connected",
        "paused: interrupted(paused, attempt 0)",
        "active: gap(serverCannotResume, from ?, to ?), connected",
        "finished(completed): disconnected",
      ])
    #expect(consumer.error == nil)
  }
}
