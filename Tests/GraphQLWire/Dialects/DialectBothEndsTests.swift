import MartletJSON
import MartletTestSupport
import MartletVocabulary
import Testing

@testable import MartletGraphQLClientWire
@testable import MartletGraphQLWire
@testable import MartletHTTPWire
@testable import MartletWire

/// Client and server of each dialect with WebSocket machines between them, over an imaginary wire.
@Suite struct DialectBothEndsTests {
  struct Pair {
    var client: DialectClient
    var server: DialectServer
    var clientSocket = WebSocketEnd.client()
    var serverSocket = WebSocketEnd()
    let byteByByte: Bool
    var told: [String] = []
    var stopped: [Int] = []
    /// Why the server refuses every client.
    var refusal: String?

    init(_ dialect: Dialect, byteByByte: Bool) {
      switch dialect {
      case .graphqlTransportWS:
        client = DialectClient(GraphQLTransportWS.ClientMachine())
        server = DialectServer(GraphQLTransportWS.ServerMachine(at: .zero))
      case .graphqlWS: (client, server) = (.graphqlWS, .graphqlWS())
      case .appSync: (client, server) = (.appSync, .appSync())
      }
      self.byteByByte = byteByByte
    }

    /// Another socket to another server, for the same client.
    mutating func reconnect(_ payload: JSONObject? = nil) {
      client.disconnect()
      server = Pair(client.machine.dialect, byteByByte: byteByByte).server
      clientSocket = .client()
      serverSocket = WebSocketEnd()
      client.open(payload)
    }

    /// Carries out what the client says.
    private mutating func carryOut() {
      for action in client.take() {
        switch action {
        case .send(let text): clientSocket.machine.send(text: Array(text.utf8), to: &clientSocket.output)
        case .next(let id, let payload): told.append("\(id) \(payload)")
        case .completed(let id): told.append("\(id) completed")
        case .failed(let id, let errors): told.append("\(id) failed \(errors)")
        case .ready(let id), .confirmed(let id): told.append("\(id) live")
        case .refused(let retry, let errors): told.append("refused \(retry) \(errors)")
        case .acknowledged, .alive, .started, .gap, .unauthorized, .violated, .lost, .mismatched, .close: break
        }
      }
    }

    /// Carries messages until neither side has one to send.
    mutating func settle() {
      while true {
        carryOut()
        while !server.actions.isEmpty {
          switch server.actions.removeFirst() {
          case .authenticate:
            if let refusal {
              server.machine.refuse(refusal, actions: &server.actions)
            } else {
              server.machine.accept(payload: nil, at: .zero, actions: &server.actions)
            }
          case .close(let close):
            serverSocket.machine.close(close.code, reason: close.reason, at: .zero, output: &serverSocket.output)
          case .start(let number, _, let request):
            if request.query == "bad" {
              server.fail(number, #"[{"message":"no"}]"#)
            } else {
              server.machine.ready(number, Cursor(term: 1, offset: 0), actions: &server.actions)
            }
          case .send(let text): serverSocket.machine.send(text: text, to: &serverSocket.output)
          case .stop(let number): stopped.append(number)
          case .renew, .tellPosition, .violated: break
          }
        }
        if clientSocket.output.isEmpty, serverSocket.output.isEmpty, client.actions.isEmpty { return }
        serverSocket.receive(clientSocket.takeOutput(), byteByByte: byteByByte)
        clientSocket.receive(serverSocket.takeOutput(), byteByByte: byteByByte)
        for case .text(let text) in serverSocket.events {
          server.machine.receive(text, at: .zero, actions: &server.actions)
        }
        for event in clientSocket.events {
          switch event {
          case .text(let text): client.machine.receive(text, at: .zero, actions: &client.actions)
          case .closed(let closure):
            carryOut()
            told.append("closed \(closure.code.rawValue) \(closure.reason)")
            client.disconnect()
          case .binary, .ping, .pong, .closeTransport, .abortTransport: break
          }
        }
        serverSocket.events = []
        clientSocket.events = []
      }
    }
  }

  @Test(arguments: Dialect.allCases, [false, true])
  func `a session from initialisation to completion`(dialect: Dialect, byteByByte: Bool) throws {
    var pair = Pair(dialect, byteByByte: byteByByte)
    try pair.client.start("1")
    try pair.client.start("2", RequestPayload(query: "bad"))
    try pair.client.start("3")
    pair.client.open(dialect == .appSync ? ["host": "h"] : nil)
    pair.settle()
    for number in 1...3 { pair.server.next(1, "{\"n\":\(number)}") }
    pair.server.machine.complete(1, actions: &pair.server.actions)
    pair.settle()
    try pair.client.cancel("3")
    pair.settle()
    let live = dialect == .graphqlWS ? [] : ["1 live"]
    #expect(
      pair.told.filter { !$0.hasPrefix("3") && !$0.hasPrefix("2") }
        == live + [#"1 {"n":1}"#, #"1 {"n":2}"#, #"1 {"n":3}"#, "1 completed"])
    #expect(pair.told.contains(#"2 failed ["no"]"#))
    #expect(pair.stopped == [3])
    #expect(pair.server.machine.operationCount == 0 && pair.client.machine.operationCount == 0)
  }

  private static func authorization(_ dialect: Dialect) -> JSONObject? {
    dialect == .appSync ? ["host": "h"] : nil
  }

  @Test(arguments: Dialect.allCases, [false, true])
  func `a refusal reaches the client with its reason and asks for new credentials`(
    dialect: Dialect, byteByByte: Bool
  ) throws {
    var pair = Pair(dialect, byteByByte: byteByByte)
    pair.refusal = "no such token"
    try pair.client.start("1")
    pair.client.open(Self.authorization(dialect))
    pair.settle()
    switch dialect {
    case .graphqlTransportWS: #expect(pair.told == ["closed 4403 no such token"])
    case .graphqlWS:
      #expect(pair.told == [#"refused withNewCredentials ["no such token"]"#, "closed 1011 no such token"])
    case .appSync:
      #expect(pair.told == [#"refused withNewCredentials ["no such token"]"#, "closed 1008 no such token"])
    }
    if dialect == .graphqlTransportWS { #expect(dialect.retry(after: 4403) == .withNewCredentials) }
    // The operation has not been executed: with other credentials it is sent after all.
    pair.refusal = nil
    pair.told = []
    pair.reconnect(Self.authorization(dialect))
    pair.settle()
    pair.server.next(1, "{}")
    pair.settle()
    #expect(pair.told.last == "1 {}")
  }

  @Test(arguments: Dialect.allCases, [false, true])
  func `a subscription resumes over the next socket, and what may not be repeated is lost`(
    dialect: Dialect, byteByByte: Bool
  ) throws {
    var pair = Pair(dialect, byteByByte: byteByByte)
    try pair.client.start("1")
    try pair.client.start("2", repetition: .never)
    pair.client.open(Self.authorization(dialect))
    pair.settle()
    pair.server.next(1, #"{"n":1}"#)
    pair.settle()
    pair.reconnect(Self.authorization(dialect))
    pair.settle()
    #expect(pair.server.machine.operationCount == 1 && pair.client.machine.operationCount == 1)
    pair.server.next(1, #"{"n":2}"#)
    pair.settle()
    #expect(pair.told.filter { $0.hasPrefix("1 {") } == [#"1 {"n":1}"#, #"1 {"n":2}"#])
    #expect(pair.told.allSatisfy { !$0.hasPrefix("2 {") })
  }

  @Test(arguments: Dialect.allCases, [false, true])
  func `a stopping server is recognised by its close code, and the client reconnects`(
    dialect: Dialect, byteByByte: Bool
  ) throws {
    var pair = Pair(dialect, byteByByte: byteByByte)
    try pair.client.start("1")
    pair.client.open(Self.authorization(dialect))
    pair.settle()
    pair.server.machine.end(1001, "bye", actions: &pair.server.actions)
    pair.settle()
    #expect(pair.told.last == "closed 1001 bye" && pair.stopped == [1])
    #expect(dialect.retry(after: 1001) == .afterBackoff && pair.client.machine.operationCount == 1)
  }

  @Test(arguments: Dialect.allCases)
  func `a client that meets another protocol's server goes wrong at once, or says so`(dialect: Dialect)
    throws
  {
    for other in Dialect.allCases where other != dialect {
      var pair = Pair(dialect, byteByByte: false)
      pair.server = Pair(other, byteByByte: false).server
      try pair.client.start("1")
      pair.client.open(dialect == .appSync ? ["host": "h"] : nil)
      pair.server.machine.receive(
        Array(#"{"type":"connection_init"}"#.utf8), at: .zero, actions: &pair.server.actions)
      pair.server.machine.accept(payload: nil, at: .zero, actions: &pair.server.actions)
      let acknowledgement = try #require(
        pair.server.actions.compactMap { action -> String? in
          if case .send(let text) = action { String(decoding: text, as: UTF8.self) } else { nil }
        }.first)
      pair.client.receive(acknowledgement, other == .graphqlTransportWS ? #"{"type":"ping"}"# : #"{"type":"ka"}"#)
      var told = pair.client.take()
      // Under one subprotocol the newer client and AppSync's acknowledgement cannot be distinguished before the `ka`,
      // and the older protocol's from one of AppSync's that leaves something out not before the answer to a `start`.
      pair.server.actions = []
      for case .send(let text) in told where text.contains(#""type":"start""#) {
        pair.server.machine.receive(Array(text.utf8), at: .zero, actions: &pair.server.actions)
      }
      for case .send(let answer) in pair.server.actions { pair.client.receive(String(decoding: answer, as: UTF8.self)) }
      told += pair.client.take()
      let name = told.compactMap { if case .mismatched(let name) = $0 { name } else { nil } }
      #expect(name.count == 1, "\(dialect) against \(other): \(told)")
    }
  }

  @Test(arguments: Dialect.allCases) func `every close code has its class in every dialect`(
    dialect: Dialect
  ) {
    let table: [(codes: [UInt16], retry: ConnectionRetry)] = [
      ([1000], .ifOperationsAreOpen),
      ([1001, 1005, 1006, 1012, 1013, 1014, 4408, 4499, 4504, 3000, 4100], .afterBackoff),
      ([1002, 1003, 1007, 1008, 1009, 1010, 1015], .never),
      ([4004, 4005, 4400, 4401, 4406, 4409, 4429, 4500], .never), ([4403], .withNewCredentials),
      ([1011], dialect == .graphqlTransportWS ? .never : .afterBackoff),
    ]
    for row in table {
      for code in row.codes { #expect(dialect.retry(after: WebSocketCloseCode(rawValue: code)) == row.retry) }
    }
  }
}
