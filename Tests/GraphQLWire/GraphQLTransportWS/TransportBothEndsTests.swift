import MartletJSON
import MartletTestSupport
import MartletVocabulary
import MartletWire
import Testing

@testable import MartletGraphQLClientWire
@testable import MartletGraphQLWire

/// Client and server with WebSocket machines between them, over an imaginary wire.
@Suite struct TransportBothEndsTests {
  struct Pair {
    var client = ClientEnd()
    var server = ServerEnd()
    var clientSocket = WebSocketEnd.client()
    var serverSocket = WebSocketEnd()
    let byteByByte: Bool
    var delivered: [String] = []

    init(byteByByte: Bool) { self.byteByByte = byteByByte }

    /// Carries messages until neither side has one to send.
    mutating func settle() {
      while true {
        for action in client.take() {
          switch action {
          case .send(let text): clientSocket.machine.send(text: text, to: &clientSocket.output)
          case .next(let id, let payload, let cursor, _):
            delivered.append("\(id) \(String(decoding: payload, as: UTF8.self)) \(cursor?.description ?? "-")")
          case .completed(let id): delivered.append("\(id) completed")
          case .ready(let id, let cursor): delivered.append("\(id) ready \(cursor)")
          case .acknowledged, .pinged, .ponged, .started, .confirmed, .gap, .failed, .unauthorized, .violated, .lost,
            .refused, .mismatched, .close:
            break
          }
        }
        for action in server.actions {
          switch action {
          case .authenticate: server.machine.accept(at: .zero, actions: &server.actions)
          case .start(let number, _, _):
            server.machine.ready(number, Cursor(term: 1, offset: 0), actions: &server.actions)
          case .send(let text): serverSocket.machine.send(text: text, to: &serverSocket.output)
          case .renew, .stop, .tellPosition, .violated, .close: break
          }
          server.actions.removeFirst()
        }
        if clientSocket.output.isEmpty, serverSocket.output.isEmpty, client.actions.isEmpty, server.actions.isEmpty {
          return
        }
        serverSocket.receive(clientSocket.takeOutput(), byteByByte: byteByByte)
        clientSocket.receive(serverSocket.takeOutput(), byteByByte: byteByByte)
        for case .text(let text) in serverSocket.events {
          server.machine.receive(text, at: .zero, actions: &server.actions)
        }
        for case .text(let text) in clientSocket.events {
          client.machine.receive(text, at: .zero, actions: &client.actions)
        }
        serverSocket.events = []
        clientSocket.events = []
      }
    }
  }

  @Test(arguments: [false, true])
  func `a session from initialisation to completion`(byteByByte: Bool) throws {
    var pair = Pair(byteByByte: byteByByte)
    pair.client.machine.opened(at: .zero, actions: &pair.client.actions)
    try pair.client.start("1")
    pair.settle()
    for offset in 1...3 as ClosedRange<Int64> {
      pair.server.machine.next(
        1, payload: Array("{}".utf8), cursor: Cursor(term: 1, offset: offset), endsTransaction: offset != 2,
        actions: &pair.server.actions)
    }
    pair.server.machine.complete(1, actions: &pair.server.actions)
    pair.settle()
    #expect(pair.delivered == ["1 ready 1-0", "1 {} 1-1", "1 {} 1-2", "1 {} 1-3", "1 completed"])
    #expect(pair.server.machine.operationCount == 0 && pair.client.machine.operationCount == 0)
  }

  @Test func `every message reads back as it was written`() throws {
    let request = RequestPayload(
      query: "query Q($x: Int) { a(x: $x) }\n\"é\"", operationName: "Q", variables: ["x": [1, nil, "s"]],
      extensions: RequestContinuity(
        resume: Cursor(term: 7, offset: 8), fromOldest: true, write: WriteNumber(client: "phone", number: 3)
      ).added(to: ["other": true]))
    for message in [
      .connectionInit(payload: nil), .connectionInit(payload: ["a": 1]), .ping(payload: nil), .pong(payload: ["b": []]),
      .complete(try identifier("x")), .subscribe(try identifier("\u{1F600}\n"), request),
    ] as [TransportWS.ClientMessage] {
      #expect(try TransportWS.ClientMessage(parsing: message.serialized()) == message)
    }
    let continuity = try RequestContinuity(extensions: request.extensions)
    #expect(continuity.resume == Cursor(term: 7, offset: 8) && continuity.fromOldest)
    #expect(continuity.write == WriteNumber(client: "phone", number: 3))
  }

  @Test(arguments: [
    (#"{"martlet":1}"#, "extensions.martlet"), (#"{"martlet":{"resume":7}}"#, "extensions.martlet.resume"),
    (#"{"martlet":{"resume":"x-y"}}"#, "extensions.martlet.resume"),
    (#"{"martlet":{"from":"newest"}}"#, "extensions.martlet.from"),
    (#"{"martlet":{"write":{"number":1}}}"#, "extensions.martlet.write.client"),
    (#"{"martlet":{"write":{"client":"","number":1}}}"#, "extensions.martlet.write.client"),
    (#"{"martlet":{"write":{"client":"c","number":0}}}"#, "extensions.martlet.write.number"),
    (#"{"martlet":{"write":{"client":"c","number":1.5}}}"#, "extensions.martlet.write.number"),
  ])
  func `malformed additions name their place`(json: String, place: String) throws {
    let extensions = try #require(try JSONValue(parsing: json).object)
    do {
      _ = try RequestContinuity(extensions: extensions)
      Issue.record("accepted")
    } catch {
      #expect(error.place == place)
    }
  }

  @Test func `absent additions are absent`() throws {
    for json in ["{}", #"{"martlet":null}"#, #"{"martlet":{"resume":null,"from":null,"write":null}}"#] {
      let extensions = try #require(try JSONValue(parsing: json).object)
      #expect(try RequestContinuity(extensions: extensions) == RequestContinuity())
    }
  }
}
