import MartletJSON
import MartletModels
import MartletServer
import MartletStore
import MartletWire
import Testing

/// Clients of streamed responses that read nothing, which no ping finds out: real sockets, and a clock that the test
/// moves.
@Suite(.timeLimit(.minutes(1))) struct StalledReaderTests {
  @Test(arguments: StreamedSubscriptionTests.forms)
  func `a streamed response that is never read ends, and one that is read stays`(accept: String) async throws {
    let server = try CountedServer(schema: "type Note @model { id: ID! text: String }", isClocked: true)
    func create(_ id: String, _ text: String) async {
      await server.commit([.create(model: 0, record: Record(values: [.string(id), .string(text), "t", "t"]))])
    }
    let stalled = try await StreamedResponse.open(
      "subscription { onCreateNote { text } }", accept: accept, port: server.port)
    _ = await stalled.heard { $0 == .heartbeat }
    stalled.setReading(false)
    // Selects little, because reading JSON is slow without optimisation.
    let reading = try await StreamedResponse.open(
      "subscription { onCreateNote { id } }", accept: accept, port: server.port)
    _ = await reading.heard { $0 == .heartbeat }
    // More than the systems on both sides take: what is left over stays unread.
    let text = String(repeating: "x", count: 200_000)
    var written = 0
    while await server.counts().hub[.lagging] == 0 {
      await create("\(written)", text)
      _ = await reading.heard { if case .result = $0 { true } else { false } }
      written += 1
    }
    let unread = ServerLimits().http.unreadTimeout
    await server.advance(unread)
    #expect(await server.counts().hub[.readersGivenUp] == 0)
    // A socket may have taken a little more meanwhile, as one does that is read slowly: then the time begins again.
    for _ in 0..<4 where await server.counts().hub[.readersGivenUp] == 0 {
      await create("between", "")
      _ = await reading.heard { if case .result = $0 { true } else { false } }
      await server.advance(unread)
    }
    #expect(await server.counts().hub[.readersGivenUp] == 1)
    await create("last", "")
    let last = await reading.heard { if case .result = $0 { true } else { false } }
    #expect(last.last == .result(["data": ["onCreateNote": ["id": "last"]]]))
    reading.abort()
    stalled.abort()
    await server.stop()
  }
}
