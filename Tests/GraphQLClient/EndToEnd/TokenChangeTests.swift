import Foundation
import Martlet
import MartletGraphQLWire
import MartletServer
import MartletWire
import Testing

/// Credentials that change under running subscriptions, against the server of this package.
@Suite(.timeLimit(.minutes(1))) struct TokenChangeTests {
  /// Accepts tokens that begin with "good"; a token can be withdrawn while the server runs.
  private final class Door: Sendable {
    let tokens = Recorder<String>()
    func admit(_ payload: JSONObject?) -> Bool {
      let token = payload?["authToken"]?.string ?? ""
      tokens.add(token)
      return token.hasPrefix("good")
    }
  }

  private func stage(_ door: Door) throws -> (RealServer, GraphQLClient, WebSocketTransport) {
    let server = try RealServer {
      $0.onConnect = { request in
        // The writer's requests over HTTP bring no token.
        request.transport == .http || door.admit(request.payload) ? .accept() : .refuse("the token has expired")
      }
    }
    var configuration = ConnectionConfiguration()
    configuration.reconnect.firstDelay = .milliseconds(20)
    configuration.connectingPayload = ["authToken": "good 0"]
    let transport = try WebSocketTransport(url: server.url, configuration: configuration)
    return (server, GraphQLClient(networkTransport: transport), transport)
  }

  @Test func `P8, P2, P3: tokens that change under load lose and repeat nothing`() async throws {
    let door = Door()
    let (server, client, transport) = try stage(door)
    defer { server.remove() }
    let board = client.subscribe(EndToEndTests.board, variables: ["airport": "VIE"])
    try await board.ready()
    let writer = try server.client()
    async let writing: Void = {
      for minutes in 1...200 {
        try await writer.depart("VIE", minutes)
        if minutes % 20 == 0 {
          transport.updateConnectingPayload(["authToken": .string("good \(minutes)")], reconnectIfConnected: true)
        }
      }
    }()
    var seen: [Int64] = []
    var gaps = 0
    for try await event in board {
      if event.gap != nil { gaps += 1 }
      if case .int(let minutes)? = event.data?["onCreateDeparture"]?["minutes"] { seen.append(minutes) }
      if seen.count == 200 { break }
    }
    try await writing
    #expect(seen == Array(1...200) && gaps == 0)
    #expect(door.tokens.all.contains("good 180"))
    board.cancel()
    await server.server.stop()
  }

  @Test func `P8, P2, P3: a key withdrawn under load is replaced by another, and nothing is lost or repeated`()
    async throws
  {
    func access(_ keys: String...) throws -> AccessFile {
      let entries = keys.map { key in
        let digest = PersistedOperation(hash: SHA256.digest(Array(key.utf8))).hexadecimal
        return #"{"name":"\#(key)","sha256":"\#(digest)"}"#
      }
      return try AccessFile(#"{"keys":[\#(entries.joined(separator: ","))]}"#)
    }
    let first = try access("key 0", "writer")
    let server = try RealServer { $0.access = .keys(first) }
    defer { server.remove() }
    let reasons = Recorder<CredentialReason>()
    let client = try server.client {
      $0.credentials = { reason in
        reasons.add(reason)
        let refusals = reasons.all.count { $0.isRefusal }
        return Credentials(payload: ["x-api-key": .string("key \(refusals)")])
      }
    }
    let board = client.subscribe(EndToEndTests.board, variables: ["airport": "VIE"])
    try await board.ready()
    let writer = try server.client { $0.headers = [(name: "x-api-key", value: "writer")] }
    var seen: [Int64] = []
    var iterator = board.makeAsyncIterator()
    for round in 0..<4 {
      for minutes in 1...10 { try await writer.depart("VIE", round * 10 + minutes) }
      try server.server.reload(access: try access("key \(round + 1)", "writer"))
      while seen.count < (round + 1) * 10, let event = try await iterator.next() {
        #expect(event.gap == nil)
        if case .int(let minutes)? = event.data?["onCreateDeparture"]?["minutes"] { seen.append(minutes) }
      }
    }
    #expect(seen == Array(1...40))
    #expect(reasons.all.contains(.refused(code: 4403)))
    board.cancel()
    await server.server.stop()
  }

  @Test func `P8: a token that is no longer valid ends the subscription with its reason at the next connection`()
    async throws
  {
    let door = Door()
    let (server, client, transport) = try stage(door)
    defer { server.remove() }
    let board = client.subscribe(EndToEndTests.board, variables: ["airport": "VIE"])
    try await board.ready()
    transport.updateConnectingPayload(["authToken": "expired"], reconnectIfConnected: true)
    let error = await #expect(throws: GraphQLClientError.self) { for try await _ in board {} }
    #expect(error?.code == .unauthorized && error?.message == "the token has expired" && error?.closeCode == 4403)
    #expect(door.tokens.all.filter { $0 == "expired" }.count == 2)
    await server.server.stop()
  }
}
