import MartletJSON
import MartletVocabulary
import Testing

@testable import MartletGraphQLClientWire
@testable import MartletGraphQLWire

/// Messages with one byte changed, in every dialect and role: an answer of the protocol or nothing, and never a trap.
@Suite struct DialectGarbageTests {
  private static func changed(_ text: String, _ random: inout SeededRandom) -> [UInt8] {
    var bytes = Array(text.utf8)
    let index = Int.random(in: bytes.indices, using: &random)
    bytes[index] = UInt8.random(in: 0...255, using: &random)
    return bytes
  }

  private static func server(_ dialect: Dialect) -> DialectServer {
    switch dialect {
    case .graphqlTransportWS: DialectServer(GraphQLTransportWS.ServerMachine(at: .zero)).opened()
    case .graphqlWS: DialectServer.graphqlWS().opened()
    case .appSync: DialectServer.appSync().opened()
    }
  }

  @Test(arguments: Dialect.allCases)
  func `a server answers, or closes with its dialect's code, and stops what it started`(
    dialect: Dialect
  ) {
    let messages = [
      #"{"type":"connection_init","payload":{"a":1}}"#,
      #"{"type":"subscribe","id":"1","payload":{"query":"{a}","variables":{"x":[1,2]}}}"#,
      #"{"type":"start","id":"1","payload":{"query":"{a}"}}"#,
      #"{"type":"start","id":"1","payload":{"data":"{\"query\":\"{a}\"}","extensions":{"authorization":{"host":"h"}}}}"#,
      #"{"type":"stop","id":"1"}"#, #"{"type":"complete","id":"1"}"#, #"{"type":"connection_terminate"}"#,
    ]
    var random = SeededRandom(seed: 11)
    for round in 0..<1_000 {
      var server = Self.server(dialect)
      for step in 0..<6 {
        let text = Self.changed(messages[(round + step) % messages.count], &random)
        server.machine.receive(text, at: .zero, actions: &server.actions)
      }
      server.machine.connectionEnded(actions: &server.actions)
      var running: Set<Int> = []
      var violations = 0
      for heard in server.take() {
        switch heard {
        case .start(let number, _, _): #expect(running.insert(number).inserted)
        case .stop(let number): #expect(running.remove(number) != nil)
        case .violated: violations += 1
        case .close(let code, _):
          switch dialect {
          case .graphqlTransportWS: #expect((4400...4429).contains(code) && violations > 0)
          case .graphqlWS, .appSync: #expect(code == 1000)
          }
        case .send, .authenticate, .renew, .tellPosition: break
        }
      }
      #expect(running.isEmpty)
    }
  }

  @Test(arguments: Dialect.allCases)
  func `a client fails an operation or the session, and nothing else`(dialect: Dialect) throws {
    let messages = [
      #"{"type":"data","id":"1","payload":{"data":1}}"#, #"{"type":"next","id":"1","payload":{"data":1}}"#,
      #"{"type":"error","id":"1","payload":{"errors":[{"message":"x","errorType":"UnauthorizedException"}]}}"#,
      #"{"type":"error","payload":{"errors":{"message":"x"}}}"#, #"{"type":"complete","id":"1"}"#,
      #"{"type":"start_ack","id":"1"}"#, #"{"type":"connection_error","payload":[1]}"#, #"{"type":"ka"}"#,
      #"{"type":"connection_ack","payload":{"connectionTimeoutMs":-9223372036854775808}}"#,
    ]
    var random = SeededRandom(seed: 12)
    for round in 0..<1_000 {
      var client: DialectClient
      switch dialect {
      case .graphqlTransportWS: client = DialectClient(GraphQLTransportWS.ClientMachine()).opened()
      case .graphqlWS: client = DialectClient.graphqlWS.opened()
      case .appSync: client = DialectClient.appSync.opened(payload: ["host": "h"])
      }
      try client.start("1")
      for step in 0..<6 {
        let text = Self.changed(messages[(round + step) % messages.count], &random)
        client.machine.receive(text, at: .zero, actions: &client.actions)
      }
      client.disconnect()
      var ends = 0
      for told in client.take() {
        switch told {
        case .close(let code): #expect(code == 4004)
        case .completed, .failed, .violated: ends += 1
        case .send, .acknowledged, .alive, .started, .confirmed, .ready, .next, .gap, .unauthorized, .lost, .refused,
          .mismatched:
          break
        }
      }
      #expect(ends + client.machine.operationCount == 1)
    }
  }
}
