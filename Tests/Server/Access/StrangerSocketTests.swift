import MartletAccess
import MartletServer
import Testing

/// What is kept of the messages of a socket's client before its credentials are accepted.
@Suite(.timeLimit(.minutes(1))) struct StrangerSocketTests {
  private static let schema = "type Note @model { id: ID! text: String }"
  private static let filler = String(repeating: "x", count: 70_000)

  private static func serve(_ body: (GraphQLServer) async throws -> Void) async throws {
    try await Served.with(schema, { $0.access = .keys(try Served.access("secret")) }, body)
  }

  /// A frame of zeros under a mask of zeros.
  private static func frame(_ first: UInt8, bytes: Int) -> [UInt8] {
    [first, 0x80 | 126, UInt8(bytes >> 8), UInt8(bytes & 0xFF), 0, 0, 0, 0] + [UInt8](repeating: 0, count: bytes)
  }

  @Test(arguments: [["graphql-transport-ws"], ["graphql-ws"]])
  func `no message over 64 KiB is taken of a socket without a key, whole, compressed or cut`(
    subprotocols: [String]
  ) async throws {
    try await Self.serve { server in
      let initialise = #"{"type":"connection_init","payload":{"x-api-key":"secret","more":"\#(Self.filler)"}}"#
      for deflate in [false, true] {
        let whole = try await RawSocket.open(port: server.port, subprotocols: subprotocols, deflate: deflate)
        whole.send(initialise)
        #expect(await whole.closeCode() == 1009, "deflate: \(deflate)")
      }
      let cut = try await RawSocket.open(port: server.port, subprotocols: subprotocols)
      cut.sendRaw(Self.frame(0x01, bytes: 40_000) + Self.frame(0x00, bytes: 30_000))
      #expect(await cut.closeCode() == 1009)
    }
  }

  @Test func `a key lifts the bound, in the handshake and in connection_init`() async throws {
    try await Self.serve { server in
      let query =
        #"{"id":"1","type":"subscribe","payload":{"query":"{ listNotes { items { id } } }","#
        + #""variables":{"unused":"\#(Self.filler)"}}}"#
      let inMessage = try await RawSocket.open(port: server.port)
      inMessage.send(#"{"type":"connection_init","payload":{"x-api-key":"secret"}}"#)
      #expect(try await inMessage.message()["type"] == "connection_ack")
      inMessage.send(query)
      #expect(try await inMessage.message()["type"] == "next")
      inMessage.abort()
      let inHeader = try await RawSocket.open(port: server.port, headers: [("x-api-key", "secret")])
      inHeader.send(#"{"type":"connection_init","payload":{"more":"\#(Self.filler)"}}"#)
      #expect(try await inHeader.message()["type"] == "connection_ack")
      inHeader.abort()
    }
  }
}
