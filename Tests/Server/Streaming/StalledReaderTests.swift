import MartletServer
import MartletWire
import Testing

/// Clients of streamed responses that read nothing, which no ping finds out.
@Suite(.timeLimit(.minutes(1))) struct StalledReaderTests {
  @Test(arguments: StreamedSubscriptionTests.forms)
  func `a streamed response that is never read ends, and one that is read stays`(accept: String) async throws {
    try await Served.with(
      "type Note @model { id: ID! text: String }", { $0.limits.http.unreadTimeout = .seconds(3) }
    ) { server in
      let query = "subscription { onCreateNote { text } }"
      let stalled = try await StreamedResponse.open(query, accept: accept, port: server.port)
      _ = await stalled.heard { $0 == .heartbeat }
      stalled.setReading(false)
      // Selects little, because reading JSON is slow without optimisation.
      let reading = try await StreamedResponse.open(
        "subscription { onCreateNote { id } }", accept: accept, port: server.port)
      _ = await reading.heard { $0 == .heartbeat }
      // More than the systems on both sides take: what is left over stays unread.
      let text = String(repeating: "x", count: 200_000)
      for _ in 0..<80 {
        try await server.transaction { try $0.create("Note", ["text": .string(text)]) }
        _ = await reading.heard { if case .result = $0 { true } else { false } }
      }
      while try await Metrics.read(server)["martlet_http_readers_given_up_total"] == 0 {}
      #expect(try await Metrics.read(server)["martlet_http_readers_given_up_total"] == 1)
      #expect(try await Metrics.read(server)["martlet_http_streams"] == 1)
      try await server.transaction { try $0.create("Note", ["id": "last"]) }
      let last = await reading.heard { if case .result = $0 { true } else { false } }
      #expect(last.last == .result(["data": ["onCreateNote": ["id": "last"]]]))
      reading.abort()
      stalled.abort()
    }
  }
}
