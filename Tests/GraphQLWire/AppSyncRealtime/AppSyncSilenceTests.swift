import MartletVocabulary
import Testing

@testable import MartletGraphQLWire

/// What counts as a sign of life of an AppSync endpoint.
@Suite struct AppSyncSilenceTests {
  @Test func `defect 12: events count as a sign of life, not keep-alives alone`() throws {
    var client = DialectClient.appSync
    client.open(["host": "h"])
    client.receive(#"{"type":"connection_ack","payload":{"connectionTimeoutMs":5000}}"#)
    try client.start("1")
    for _ in 0..<5 {
      client.pass(.seconds(4))
      client.receive(#"{"id":"1","type":"data","payload":{}}"#)
    }
    #expect(!client.take().contains(.close(4499)))
    client.pass(.seconds(5))
    #expect(client.take().contains(.close(4499)))
  }
}
