import Foundation
import Martlet
import MartletTesting
import Testing

/// The elements a subscription of the API delivers, in order.
@Suite struct SubscriptionOrderTests {
  private let time = VirtualTime()
  private let server: ScriptedServer
  private let client: GraphQLClient

  init() throws {
    server = ScriptedServer(time)
    let url = try #require(URL(string: "wss://example.test/graphql"))
    client = try GraphQLClient(url: url, environment: server.environment)
  }

  private typealias Events = MartletAsyncThrowingSequence<GraphQLSubscriptionEvent<Writer>>

  private func subscribe() -> Events {
    Martlet.withClient(client) {
      Martlet.API.subscribe(request: .subscription(of: Writer.self, type: .onCreate))
    }
  }

  private static func text(_ event: GraphQLSubscriptionEvent<Writer>) -> String {
    switch event {
    case .connection(let state): "\(state)"
    case .data(let result):
      switch result {
      case .success(let writer): "data \(writer.id)"
      case .failure(let error): "failure \(error.errorDescription)"
      }
    }
  }

  @Test func `connecting, connected, data, disconnected`() throws {
    let stream = subscribe()
    let texts = try time.run { [server] in
      let socket = try await server.accept()
      let id = try await socket.expect("subscribe")["id"]?.string ?? ""
      socket.next(id, data: ["onCreateWriter": ["id": "1"]])
      socket.complete(id)
      var texts: [String] = []
      for try await event in stream { texts.append(Self.text(event)) }
      return texts
    }
    #expect(texts == ["connecting", "connected", "data 1", "disconnected"])
  }

  @Test func `a lost connection is an interruption and a gap, not the end`() throws {
    let stream = subscribe()
    let texts = try time.run { [server] in
      let socket = try await server.accept()
      let id = try await socket.expect("subscribe")["id"]?.string ?? ""
      socket.next(id, data: ["onCreateWriter": ["id": "1"]])
      var iterator = stream.makeAsyncIterator()
      var texts: [String] = []
      for _ in 0..<3 { if let event = try await iterator.next() { texts.append(Self.text(event)) } }
      server.door = .refuses()
      socket.cut()
      for _ in 0..<2 { if let event = try await iterator.next() { texts.append(Self.text(event)) } }
      server.door = .open
      let second = try await server.accept()
      let again = try await second.expect("subscribe")["id"]?.string ?? ""
      second.next(again, data: ["onCreateWriter": ["id": "2"]])
      for _ in 0..<3 { if let event = try await iterator.next() { texts.append(Self.text(event)) } }
      return texts
    }
    #expect(texts.count == 8)
    #expect(texts.prefix(3) == ["connecting", "connected", "data 1"])
    #expect(texts[3].hasPrefix("interrupted(") && texts[3].hasSuffix("attempt 1)"))
    #expect(texts[4] == "interrupted(refused, attempt 2)")
    #expect(texts[5].hasPrefix("gap(serverCannotResume"))
    #expect(texts.suffix(2) == ["connected", "data 2"])
  }

  @Test func `attempts that fail before the first connection are reported too`() throws {
    server.door = .refuses()
    let stream = subscribe()
    time.advance(by: .milliseconds(1))
    server.door = .open
    let texts = try time.run {
      var iterator = stream.makeAsyncIterator()
      var texts: [String] = []
      for _ in 0..<3 { if let event = try await iterator.next() { texts.append(Self.text(event)) } }
      return texts
    }
    #expect(texts == ["connecting", "interrupted(refused, attempt 1)", "connected"])
  }

  @Test func `events that are not models are failures with a description, and the next still comes`() throws {
    let stream = subscribe()
    let texts = try time.run { [server] in
      let socket = try await server.accept()
      let id = try await socket.expect("subscribe")["id"]?.string ?? ""
      socket.next(id, data: ["onCreateWriter": ["name": "no id"]])
      socket.send(["id": .string(id), "type": "next", "payload": ["errors": [["message": "not yours"]]]])
      socket.send([
        "id": .string(id), "type": "next",
        "payload": ["data": ["onCreateWriter": ["id": "3"]], "errors": [["message": "name is secret"]]],
      ])
      socket.next(id, data: ["onCreateWriter": ["id": "4"]])
      socket.complete(id)
      var texts: [String] = []
      for try await event in stream { texts.append(Self.text(event)) }
      return texts
    }
    #expect(texts.count == 7)
    #expect(texts[2].hasPrefix("failure the answer is no Writer"))
    #expect(texts[3] == "failure not yours")
    #expect(texts[4] == "failure a part is missing: name is secret")
    #expect(texts[5] == "data 4")
  }

  @Test func `an error of the server is thrown, and nothing follows it`() throws {
    let stream = subscribe()
    let texts = try time.run { [server] in
      let socket = try await server.accept()
      let id = try await socket.expect("subscribe")["id"]?.string ?? ""
      socket.fail(id, message: "no such field")
      var texts: [String] = []
      do {
        for try await event in stream { texts.append(Self.text(event)) }
      } catch {
        texts.append((error as? GraphQLClientError)?.message ?? "\(error)")
      }
      return texts
    }
    #expect(texts == ["connecting", "connected", "no such field"])
  }

  @Test func `cancelling delivers disconnected and the end, and notifies the server once`() throws {
    let stream = subscribe()
    let texts = try time.run { [server] in
      let socket = try await server.accept()
      let id = try await socket.expect("subscribe")["id"]?.string ?? ""
      for number in 0..<10 { socket.next(id, data: ["onCreateWriter": ["id": .string("\(number)")]]) }
      stream.cancel()
      stream.cancel()
      try await socket.expect("complete")
      var texts: [String] = []
      for try await event in stream { texts.append(Self.text(event)) }
      return texts
    }
    #expect(texts == ["disconnected"])
  }

  @Test func `a connection that comes and goes fills no memory while its stream is not read`() throws {
    let stream = subscribe()
    try time.run { [server] in
      for _ in 0..<15 {
        let socket = try await server.accept(within: .seconds(300))
        try await socket.expect("subscribe")
        socket.cut()
      }
    }
    #expect(stream.core.waiting <= 5)
    stream.cancel()
  }
}
