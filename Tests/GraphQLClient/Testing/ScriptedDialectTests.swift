import Foundation
import Martlet
import MartletTesting
import Testing

/// What the scripted server says by itself in each dialect, seen by the client it is made for. Public API only.
@Suite struct ScriptedDialectTests {
  private static let all = Dialect.allCases

  private func stage(
    _ dialect: Dialect, _ configure: (inout ConnectionConfiguration) -> Void = { _ in }
  ) throws -> (VirtualTime, ScriptedServer, GraphQLClient) {
    let time = VirtualTime()
    let server = ScriptedServer(time)
    server.dialect = dialect
    var configuration = ConnectionConfiguration()
    configuration.dialect = dialect
    configure(&configuration)
    let url = try #require(URL(string: "wss://example.test/graphql"))
    return (time, server, try GraphQLClient(url: url, configuration: configuration, environment: server.environment))
  }

  @Test(arguments: all) func `one script plays a server of every dialect`(dialect: Dialect) throws {
    let (time, server, client) = try stage(dialect)
    let lines = try time.run {
      async let lines = Ticker(client: client).lines()
      let first = try await server.accept()
      #expect(first.dialect == dialect)
      let operation = try await first.expectOperation()
      #expect(operation.query == "subscription { tick }" && operation.variables.isEmpty)
      first.next(operation.id, data: ["tick": 1])
      first.cut()
      let second = try await server.accept()
      #expect(try await second.expectOperation().id == operation.id)
      second.next(operation.id, data: ["tick": 2])
      second.complete(operation.id)
      return await lines
    }
    #expect(lines == ["tick 1", "something is missing", "tick 2", "the end"])
  }

  @Test(arguments: all) func `variables and the operation's name are read in every dialect`(
    dialect: Dialect
  ) throws {
    let (time, server, client) = try stage(dialect)
    let operation = try time.run {
      let stream = client.subscribe("subscription Tick($n: Int) { tick(n: $n) }", variables: ["n": 3])
      let operation = try await server.accept().expectOperation()
      stream.cancel()
      return operation
    }
    #expect(operation.variables == ["n": 3] && operation.query.hasPrefix("subscription Tick"))
  }

  @Test(arguments: all) func `an error ends one operation, in the shape of the dialect`(
    dialect: Dialect
  ) throws {
    let (time, server, client) = try stage(dialect)
    let lines = try time.run {
      async let lines = Ticker(client: client).lines()
      let socket = try await server.accept()
      socket.fail(try await socket.expectOperation().id, message: "no")
      return await lines
    }
    #expect(lines == ["failed: no"])
  }

  @Test(arguments: all) func `what is refused under way comes back with other credentials`(
    dialect: Dialect
  ) throws {
    let (time, server, client) = try stage(dialect) {
      $0.credentials = { .bearer($0.isRefusal ? "fresh" : "kept") }
    }
    let lines = try time.run {
      async let lines = Ticker(client: client).lines()
      let first = try await server.accept()
      first.next(try await first.expectOperation().id, data: ["tick": 1])
      first.refuse("expired")
      let second = try await server.accept()
      let operation = try await second.expectOperation()
      if dialect == .appSync {
        #expect(operation.extensions["authorization"]?["Authorization"] == "Bearer fresh")
      } else {
        #expect(second.received.first?.contains("Bearer fresh") == true)
      }
      second.complete(operation.id)
      return await lines
    }
    #expect(lines == ["tick 1", "something is missing", "the end"])
  }

  @Test(arguments: all) func `a quiet hour is survived, and a peer that lost power is not`(
    dialect: Dialect
  ) throws {
    let (time, server, client) = try stage(dialect)
    let stream = client.subscribe("subscription { tick }")
    try time.run { try await stream.ready() }
    time.advance(by: .seconds(3_600))
    #expect(server.sockets.count == 1)
    server.socket?.goSilent()
    time.advance(by: .seconds(400))
    #expect(server.sockets.count == 2 && "\(stream.state)" == "active")
    stream.cancel()
  }

  @Test(arguments: [Dialect.graphqlWS, .appSync])
  func `without keep-alives a quiet connection lives as long as its dialect says`(
    dialect: Dialect
  ) throws {
    let (time, server, client) = try stage(dialect)
    server.keepAliveInterval = nil
    let stream = client.subscribe("subscription { tick }")
    time.advance(by: .seconds(299))
    #expect(server.sockets.count == 1)
    time.advance(by: .seconds(10))
    #expect(server.sockets.count == (dialect == .appSync ? 2 : 1))
    stream.cancel()
  }

  @Test func `defect 12: data is a sign of life as keep-alives are`() throws {
    let (time, server, client) = try stage(.appSync)
    server.keepAliveInterval = nil
    let stream = client.subscribe("subscription { tick }")
    let id = try time.run { try await server.accept().expectOperation().id }
    for tick in 0..<10 {
      time.advance(by: .seconds(200))
      server.socket?.next(id, data: ["tick": .int(Int64(tick))])
    }
    #expect(server.sockets.count == 1)
    time.advance(by: .seconds(310))
    #expect(server.sockets.count == 2)
    stream.cancel()
  }

  @Test func `an AppSync subscription waits for its confirmation when the script gives it`() throws {
    let (time, server, client) = try stage(.appSync)
    server.confirms = false
    let stream = client.subscribe("subscription { tick }")
    time.advance(by: .seconds(1))
    #expect("\(stream.state)" == "pending")
    try time.run {
      let socket = try await server.accept()
      let id = try await socket.expectOperation().id
      socket.send(["id": .string(id), "type": "start_ack"])
      try await stream.ready()
    }
    #expect("\(stream.state)" == "active" && stream.isConfirmed)
    stream.cancel()
  }

  @Test(arguments: all) func `the end of a subscription is expected in every dialect`(
    dialect: Dialect
  ) throws {
    let (time, server, client) = try stage(dialect)
    try time.run {
      let stream = client.subscribe("subscription { tick }")
      let socket = try await server.accept()
      let operation = try await socket.expectOperation()
      stream.cancel()
      let end = try await socket.expect(dialect == .graphqlTransportWS ? "complete" : "stop")
      #expect(end["id"]?.string == operation.id)
      await #expect(throws: ScriptError.self) { try await socket.expectOperation(within: .seconds(1)) }
    }
  }
}
