import Foundation
import MartletJSON
import MartletServer
import Testing

/// The departure board with access configured: all callers may read, staff may write.
@Suite(.timeLimit(.minutes(1))) struct DepartureBoardAccessTests {
  private static var schema: String {
    get throws {
      let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
      return try String(contentsOf: root.appending(path: "Examples/DepartureBoard/schema.graphql"), encoding: .utf8)
    }
  }

  private static let create = """
    mutation { createFlight(input: {id: "1", origin: "JFK", destination: "LAX", carrier: "UA", number: 1,
      scheduled: "2013-01-01T10:00:00Z", status: SCHEDULED}) { id status } }
    """
  private static let update = #"mutation { updateFlight(input: {id: "1", status: LATE, delay: 5}) { id delay } }"#

  @Test func `guests read and follow the board, staff write it, and others are refused`() async throws {
    let file = try AccessFile(#"{"tokens":[\#(Mint.entry)],"guests":true}"#)
    let audit = LogRecorder()
    try await Served.with(
      try Self.schema,
      {
        $0.access = .keys(file)
        $0.audit = audit.log
      }
    ) { server in
      func ask(_ query: String, _ token: String? = nil) async throws -> JSONValue {
        let headers = token.map { [("Authorization", "Bearer \($0)")] } ?? []
        return try await HTTPRequest.graphql(query, port: server.port, headers: headers).json
      }
      let guest = try await RawSocket.open(port: server.port)
      guest.send(#"{"type":"connection_init","payload":{"martlet":{"cursors":true}}}"#)
      _ = try await guest.message("connection_ack")
      guest.subscribe("1", #"subscription { departures(origin: "JFK") { id status delay } }"#)
      _ = try await guest.message("ready")
      let staff = Mint.token("ada", groups: ["staff"])
      let visitor = Mint.token("bob")
      for token in [nil, visitor] {
        let refused = try await ask(Self.create, token)
        #expect(refused["errors"]?[0]?["extensions"]?["code"] == "FORBIDDEN", "\(refused)")
      }
      #expect(try await ask(Self.create, staff)["data"]?["createFlight"]?["status"] == "SCHEDULED")
      #expect(try await guest.message("next")["payload"]?["data"]?["departures"]?["id"] == "1")
      let hidden = try await ask(Self.update, visitor)
      #expect(hidden["data"]?["updateFlight"] == .null && hidden["errors"] != nil)
      #expect(try await ask(Self.update, staff)["data"]?["updateFlight"]?["delay"] == 5)
      #expect(try await guest.message("next")["payload"]?["data"]?["departures"]?["delay"] == 5)
      for token in [nil, visitor, staff] {
        let flights = try await ask("{ flightsByOrigin(origin: \"JFK\") { items { id delay } } }", token)
        #expect(flights["data"]?["flightsByOrigin"]?["items"]?[0]?["delay"] == 5, "\(flights)")
      }
      guest.abort()
      // Who connected, and which rules refused; never values.
      let lines = audit.entries
      let refused = lines.filter { $0.message == "An operation was refused by the rules." }
      #expect(refused.count == 3)
      let values = refused.first?.metadata.map { "\($0.key.rawValue)=\($0.value)" } ?? []
      #expect(values.contains("field=Mutation.createFlight") && values.contains("provider=guest"))
      #expect(values.contains { $0.hasPrefix("rule=Flight create: groups (line ") }, "\(values)")
      #expect(lines.contains { $0.message == "A caller was admitted." && $0.metadata.contains { $0.value == "ada" } })
      let text = lines.map { "\($0.metadata)" }.joined()
      for value in ["JFK", "SCHEDULED", staff, visitor] { #expect(!text.contains(value), "\(value)") }
    }
  }
}
