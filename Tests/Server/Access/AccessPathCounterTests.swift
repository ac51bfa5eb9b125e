import MartletJSON
import MartletServer
import Testing

/// What a caller that was never seen costs a server, in exact counts: nothing is done twice for it, and nothing anew
/// that does not depend on it.
@Suite(.timeLimit(.minutes(1))) struct AccessPathCounterTests {
  private static let schema = """
    type Note @model @auth(rules: [{allow: owner}, {allow: groups, groups: ["writers"]}]) { id: ID! text: String }
    """
  private static let query = "subscription { onCreateNote { text } }"

  private static func server() throws -> CountedServer {
    let file = try AccessFile(#"{"tokens":[\#(Mint.entry)]}"#)
    return try CountedServer(schema: schema) { $0.access = .keys(file) }
  }

  private static func live(_ token: String, _ port: Int) async throws -> RawSocket {
    let socket = try await RawSocket.open(port: port)
    socket.send(
      #"{"type":"connection_init","payload":{"authToken":"\#(token)","martlet":{"cursors":true}}}"#)
    _ = try await socket.message("connection_ack")
    socket.subscribe("1", query)
    _ = try await socket.message("ready")
    return socket
  }

  @Test func `a token is read and verified once, keys are imported once, and equal documents are planned once`()
    async throws
  {
    let server = try Self.server()
    let access = server.node.access
    let imported = access.keyImports
    #expect(imported == 1)
    let before = await server.counts()
    var sockets: [RawSocket] = []
    for number in 0..<20 { sockets.append(try await Self.live(Mint.token("caller \(number)"), server.port)) }
    var work = await server.counts() - before
    #expect(access.keyImports == imported)
    #expect(access.tokensRead == 20)
    #expect(access.tokenVerifications == 20)
    #expect(work[.planMisses] == 1)
    #expect(work[.planHits] == 19)
    // The same tokens again, on other connections.
    for number in 0..<20 { sockets.append(try await Self.live(Mint.token("caller \(number)"), server.port)) }
    work = await server.counts() - before
    #expect(access.tokensRead == 20)
    #expect(access.tokenVerifications == 20)
    #expect(work[.planMisses] == 1)
    for socket in sockets { socket.abort() }
    await server.stop()
  }

  @Test
  func `an event of one owner evaluates no other owner's rule, and is encoded once for the owner's subscriptions`()
    async throws
  {
    let server = try Self.server()
    var sockets: [RawSocket] = []
    for number in 0..<40 { sockets.append(try await Self.live(Mint.token("caller \(number / 2)"), server.port)) }
    let before = await server.counts()
    let writer = [("Authorization", "Bearer " + Mint.token("writer", groups: ["writers"]))]
    for number in 0..<20 {
      let created = try await HTTPRequest.graphql(
        "mutation { createNote(input: {text: \"\(number)\", owner: \"caller \(number)\"}) { id } }", port: server.port,
        headers: writer)
      #expect(created.json["errors"] == nil, "\(created.text)")
    }
    for (position, socket) in sockets.enumerated() {
      let event = try await socket.message("next")
      #expect(event["payload"]?["data"]?["onCreateNote"]?["text"]?.string == "\(position / 2)")
    }
    let work = await server.counts() - before
    // The owner is looked up, so that no condition is tried.
    #expect(work[.predicateEvaluations] == 0)
    #expect(work[.payloadEncodings] == 20)
    #expect(work[.deliveries] == 40)
    for socket in sockets { socket.abort() }
    await server.stop()
  }
}
