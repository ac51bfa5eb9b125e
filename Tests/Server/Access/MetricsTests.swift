import Foundation
import MartletGraphQLWire
import MartletServer
import MartletWire
import Testing

/// The figures of `/metrics`, and what is written down about them.
@Suite(.timeLimit(.minutes(1))) struct MetricsTests {
  @Test func `every figure is in the guide, and the guide names no other`() async throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let guide = try String(contentsOf: root.appendingPathComponent("docs/guides/serve.md"), encoding: .utf8)
    let table = try #require(guide.components(separatedBy: "## Figures").last?.components(separatedBy: "\n## ").first)
    let written = table.split(separator: "\n").filter { $0.hasPrefix("| `") }
      .compactMap { $0.split(separator: "`").dropFirst().first.map { "martlet_\($0)" } }
    try await Served.with(Talk.schema) { server in
      let served = try await Metrics.text(server).split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }
        .compactMap { $0.split(separator: " ").dropFirst(2).first.map(String.init) }
      #expect(Set(served) == Set(written))
      #expect(written.count == served.count)
    }
  }

  @Test func `each event is measured once from its commit to its frame, in its protocol`() async throws {
    try await Served.with(Talk.schema) { server in
      let talks = [Talk(dialect: .graphqlTransportWS), Talk(dialect: .graphqlWS)]
      var sockets: [RawSocket] = []
      for talk in talks { sockets.append(try await talk.live(server.port)) }
      let count = 3
      for _ in 0..<count {
        let create = #"mutation { createNote(input: {text: "event"}) { id text } }"#
        #expect(try await HTTPRequest.graphql(create, port: server.port).status == 200)
      }
      for socket in sockets {
        for _ in 0..<count { _ = try await socket.message(socket === sockets[0] ? "next" : "data") }
      }
      let text = try await Metrics.text(server)
      for name in ["graphql-transport-ws", "graphql-ws"] {
        #expect(text.contains("martlet_commit_to_frame_seconds_count{protocol=\"\(name)\"} \(count)\n"))
        #expect(text.contains("martlet_commit_to_frame_seconds_bucket{protocol=\"\(name)\",le=\"+Inf\"} \(count)\n"))
      }
      #expect(text.contains("martlet_commit_to_frame_seconds_count{protocol=\"sse\"} 0\n"))
      #expect(text.contains("\nmartlet_store_group_writes_count \(count)\n"))
      #expect(text.contains("\nmartlet_store_group_writes_sum \(count)\n"))
      #expect(text.contains("\nmartlet_store_commit_seconds_bucket{le=\"+Inf\"} \(count)\n"))
      for socket in sockets { socket.abort() }
    }
  }

  @Test func `connections beyond the limit are refused and counted, and those that are open are served on`()
    async throws
  {
    try await Served.with(Talk.schema, { $0.limits.http.connections = 2 }) { server in
      let talk = Talk(dialect: .graphqlTransportWS)
      let bystander = try await talk.live(server.port)
      let other = try await talk.acknowledged(server.port)
      await #expect(throws: (any Error).self) { try await RawSocket.open(port: server.port) }
      other.close()
      #expect(await other.closeCode() == 1000)
      // The place is free when the server has seen the end of the transport.
      var metrics: [String: Int] = [:]
      while metrics.isEmpty { metrics = (try? await Metrics.read(server)) ?? [:] }
      #expect(metrics["martlet_connections_refused_total"] ?? 0 >= 1)
      #expect(metrics["martlet_protocol_errors_total"] == 0)
      let create = #"mutation { createNote(input: {text: "event"}) { id text } }"#
      while (try? await HTTPRequest.graphql(create, port: server.port))?.status != 200 {}
      #expect(try await bystander.message("next")["payload"]?["data"]?["onCreateNote"]?["text"] == "event")
      bystander.abort()
    }
  }
}
