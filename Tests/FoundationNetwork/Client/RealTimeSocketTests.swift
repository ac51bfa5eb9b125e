import Foundation
import Martlet
import MartletGraphQLClient
import MartletTesting
import Testing

/// What the client does over a WebSocket, on the loop of Foundation's network and in real time. Nothing waits for a
/// time: each step follows from the one before.
@Suite(.timeLimit(.minutes(1))) struct RealTimeSocketTests {
  private let time = RealTime()

  @Test(arguments: Dialect.allCases)
  func `a subscription gets its events in order, survives a lost connection and ends when the server says so`(
    dialect: Dialect
  ) async throws {
    let server = time.server(dialect)
    let client = try time.client(of: server)
    let seen = try await time.run {
      let stream = client.subscribe("subscription Tick($n: Int) { tick(n: $n) }", variables: ["n": 3])
      async let events = Self.events(of: stream)
      let first = try await server.accept()
      let operation = try await first.expectOperation()
      #expect(operation.variables == ["n": 3])
      try await stream.ready()
      for number in 1...3 { first.next(operation.id, data: ["tick": .int(Int64(number))]) }
      first.cut()
      let second = try await server.accept()
      #expect(try await second.expectOperation().id == operation.id)
      second.next(operation.id, data: ["tick": 4])
      second.complete(operation.id)
      return try await events
    }
    #expect(seen == ["1", "2", "3", "gap", "4"])
    client.shutDown()
  }

  private static func events(of stream: SubscriptionStream<GraphQLResponse<JSONValue>>) async throws -> [String] {
    var seen: [String] = []
    for try await event in stream { seen.append(event.gap == nil ? "\(event.data?["tick"] ?? .null)" : "gap") }
    return seen
  }

  @Test func `a server that gives cursors is asked for what is missing, and nothing is reported as missing`()
    async throws
  {
    let server = time.server()
    server.acknowledgement = ["martlet": ["cursors": true]]
    let client = try time.client(of: server)
    let seen = try await time.run {
      let stream = client.subscribe("subscription { tick }")
      async let events = Self.events(of: stream)
      let first = try await server.accept()
      let id = try await first.expectOperation().id
      first.send(["id": .string(id), "type": "ready", "cursor": "a-1"])
      first.next(id, data: ["tick": 1], cursor: "a-2")
      first.cut()
      let second = try await server.accept()
      let again = try await second.expect("subscribe")
      #expect("\(JSONValue.object(again))".contains("a-2"), "\(again)")
      second.send(["id": .string(id), "type": "ready", "cursor": "a-2"])
      second.next(id, data: ["tick": 2], cursor: "a-3")
      second.complete(id)
      return try await events
    }
    #expect(seen == ["1", "2"])
    client.shutDown()
  }

  @Test(arguments: Dialect.allCases) func `an error of the server ends one subscription alone`(dialect: Dialect)
    async throws
  {
    let server = time.server(dialect)
    let client = try time.client(of: server)
    try await time.run {
      let (one, two) = (client.subscribe("subscription { a }"), client.subscribe("subscription { b }"))
      let socket = try await server.accept()
      let first = try await socket.expectOperation()
      let second = try await socket.expectOperation()
      let (failing, lasting) = first.query.contains("a") ? (first.id, second.id) : (second.id, first.id)
      socket.fail(failing, message: "no")
      await #expect(throws: (any Error).self) { for try await _ in one {} }
      socket.complete(lasting)
      for try await _ in two {}
      #expect("\(two.state)" == "finished(completed)")
    }
    client.shutDown()
  }

  @Test(arguments: Dialect.allCases) func `a subscription that is cancelled or dropped ends on the server`(
    dialect: Dialect
  ) async throws {
    let server = time.server(dialect)
    let client = try time.client(of: server)
    try await time.run {
      let word = dialect == .graphqlTransportWS ? "complete" : "stop"
      let kept = client.subscribe("subscription { kept }")
      let socket = try await server.accept()
      let id = try await socket.expectOperation().id
      kept.cancel()
      #expect(try await socket.expect(word)["id"]?.string == id)
      #expect("\(kept.state)" == "finished(cancelled)")
      var dropped: SubscriptionStream<GraphQLResponse<JSONValue>>? = client.subscribe("subscription { dropped }")
      let other = try await socket.expectOperation().id
      try await dropped?.ready()
      dropped = nil
      #expect(try await socket.expect(word)["id"]?.string == other)
    }
    client.shutDown()
  }

  @Test(arguments: Dialect.allCases) func `refused credentials are replaced and the subscription continues`(
    dialect: Dialect
  ) async throws {
    let server = time.server(dialect)
    let client = try time.client(of: server) { $0.credentials = { .bearer($0.isRefusal ? "fresh" : "kept") } }
    try await time.run {
      let stream = client.subscribe("subscription { tick }")
      let first = try await server.accept()
      try await first.expectOperation()
      first.refuse("expired")
      let second = try await server.accept()
      let operation = try await second.expectOperation()
      let shown = dialect == .appSync ? "\(operation.extensions)" : second.received.first ?? ""
      #expect(shown.contains("fresh"))
      second.complete(operation.id)
      for try await event in stream { #expect(event.gap != nil) }
    }
    client.shutDown()
  }

  @Test func `queries and mutations share the socket, and a mutation whose answer is lost has an unknown outcome`()
    async throws
  {
    let server = time.server()
    let client = try time.client(of: server)
    try await time.run {
      async let first = client.query("{ one }")
      let socket = try await server.accept()
      let one = try await socket.expectOperation()
      async let second = client.mutate("mutation { two }")
      let two = try await socket.expectOperation()
      // Answered in another order.
      socket.next(two.id, data: ["two": 2])
      socket.complete(two.id)
      socket.next(one.id, data: ["one": 1])
      socket.complete(one.id)
      #expect(try await first.data?["one"] == 1)
      #expect(try await second.data?["two"] == 2)
      async let lost: String = {
        do {
          _ = try await client.mutate("mutation { lost }")
          return "answered"
        } catch { return (error as? GraphQLClientError)?.code.description ?? "\(error)" }
      }()
      try await socket.expectOperation()
      socket.cut()
      #expect(await lost == "outcomeUnknown")
    }
    client.shutDown()
  }

  @Test func `a hundred subscriptions from many tasks share one socket, and each gets its own events`() async throws {
    let server = time.server()
    let client = try time.client(of: server) { $0.subscriptionsPerConnection = 1_000 }
    let answers = try await withThrowingTaskGroup(of: (Int, String).self) { group in
      for number in 0..<100 {
        // On the pool, not on the loop.
        group.addTask {
          let stream = client.subscribe("subscription { n\(number) }")
          for try await event in stream { return (number, "\(event.data?["n"] ?? .null)") }
          return (number, "ended")
        }
      }
      try await time.run {
        let socket = try await server.accept()
        // An event ends its subscription, with a message: none is sent before all have begun.
        var operations = [try await socket.expectOperation()]
        while operations.count < 100 { operations.append(try await socket.expectOperation()) }
        for operation in operations {
          let number = operation.query.split { !$0.isNumber }.first.flatMap { Int($0) }
          socket.next(operation.id, data: ["n": .int(Int64(number ?? -1))])
        }
        #expect(server.sockets.count == 1)
      }
      return try await group.reduce(into: [Int: String]()) { $0[$1.0] = $1.1 }
    }
    #expect(answers == Dictionary(uniqueKeysWithValues: (0..<100).map { ($0, "\($0)") }))
    client.shutDown()
  }

  @Test func `a socket that answers no ping is replaced, and one that opens no more is tried again`() async throws {
    let server = time.server()
    server.answersPings = false
    let client = try time.client(of: server) {
      $0.pingInterval = .milliseconds(5)
      $0.pongTimeout = .milliseconds(5)
      $0.openTimeout = .milliseconds(5)
      $0.reconnect.attempts = nil
    }
    try await time.run {
      let stream = client.subscribe("subscription { tick }")
      let first = try await server.accept()
      server.door = .silent
      try await first.expectClose()
      let attempts = server.attempts.count
      #expect(first.clientClose?.code == 4499)
      server.answersPings = true
      server.door = .open
      let second = try await server.accept()
      #expect(server.attempts.count > attempts || second !== first)
      stream.cancel()
    }
    client.shutDown()
  }

  @Test func `a paused client closes its socket and a resumed one subscribes again`() async throws {
    let server = time.server()
    let client = try time.client(of: server)
    let transport = try #require(client.networkTransport as? any ConnectedNetworkTransport)
    try await time.run {
      let stream = client.subscribe("subscription { tick }")
      let first = try await server.accept()
      try await first.expectOperation()
      transport.pause()
      try await first.expectClose()
      #expect("\(stream.state)" == "paused")
      transport.resume()
      let second = try await server.accept()
      second.complete(try await second.expectOperation().id)
      for try await event in stream { #expect(event.gap != nil) }
    }
    client.shutDown()
  }

  @Test func `a shutdown ends everything that waits`() async throws {
    let server = time.server()
    server.acknowledgement = nil
    let client = try time.client(of: server)
    try await time.run {
      let stream = client.subscribe("subscription { tick }")
      async let answer: String = {
        do {
          _ = try await client.query("{ n }")
          return "answered"
        } catch { return "\((error as? GraphQLClientError)?.code.description ?? "\(error)")" }
      }()
      let socket = try await server.accept()
      client.shutDown()
      #expect(await answer != "answered")
      try await socket.expectClose()
      do { for try await _ in stream {} } catch {}
      #expect("\(stream.state)".hasPrefix("finished") || "\(stream.state)".hasPrefix("failed"), "\(stream.state)")
    }
  }
}
