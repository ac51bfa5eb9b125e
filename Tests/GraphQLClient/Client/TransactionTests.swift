import Foundation
import Martlet
import MartletTesting
import Testing

/// Results by transactions, and a query in the place of a gap.
@Suite struct TransactionTests {
  private let time = VirtualTime()
  private let server: ScriptedServer
  private let client: GraphQLClient

  init() throws {
    server = ScriptedServer(time)
    server.acknowledgement = ["martlet": ["cursors": true]]
    let url = try #require(URL(string: "ws://example.test/graphql"))
    client = try GraphQLClient(url: url, environment: server.environment)
  }

  private func tick(_ response: GraphQLResponse<JSONValue>) -> String {
    response.gap.map { "gap \($0.reason.rawValue)" } ?? "\(response.data?["tick"]?.int ?? -1)"
  }

  /// What the script sends, by transactions.
  private func groups(
    ofAtMost most: Int = 10_000, _ script: @escaping @Sendable (ScriptedSocket, String) -> Void
  ) throws -> [String] {
    let stream = client.subscribe("subscription { tick }")
    return try time.run { [server] in
      async let seen = {
        var seen: [String] = []
        for try await transaction in stream.transactions(ofAtMost: most) {
          let ticks = transaction.responses.map(tick).joined(separator: " ")
          seen.append(ticks + (transaction.isComplete ? "" : " …"))
        }
        return seen
      }()
      let socket = try await server.accept()
      script(socket, try await socket.expectOperation().id)
      return try await seen
    }
  }

  @Test func `results of one transaction come together, and the mark is on each result`() throws {
    let seen = try groups { socket, id in
      socket.next(id, data: ["tick": 1], cursor: "a-1", endsTransaction: false)
      socket.next(id, data: ["tick": 2], cursor: "a-2", endsTransaction: false)
      socket.next(id, data: ["tick": 3], cursor: "a-3")
      socket.next(id, data: ["tick": 4], cursor: "a-4")
      socket.next(id, data: ["tick": 5], cursor: "a-5", endsTransaction: false)
      socket.complete(id)
    }
    #expect(seen == ["1 2 3", "4", "5 …"])
  }

  @Test func `a gap cuts a transaction and stands alone`() throws {
    let seen = try groups { socket, id in
      socket.next(id, data: ["tick": 1], cursor: "a-1", endsTransaction: false)
      socket.say(
        #"{"id":"\#(id)","type":"gap","reason":"retention","from":"a-1","to":"a-9"}"#)
      socket.next(id, data: ["tick": 10], cursor: "a-10")
      socket.complete(id)
    }
    #expect(seen == ["1 …", "gap retention", "10"])
  }

  @Test func `a transaction beyond the bound comes in pieces`() throws {
    let seen = try groups(ofAtMost: 2) { socket, id in
      for number in 1...5 as ClosedRange<Int64> {
        socket.next(id, data: ["tick": .int(number)], cursor: "a-\(number)", endsTransaction: number == 5)
      }
      socket.complete(id)
    }
    #expect(seen == ["1 2 …", "3 4 …", "5"])
  }

  @Test func `a query takes the place of a gap, in its order, and its failure is reported there`() throws {
    struct Down: Error {}
    let stream = client.subscribe("subscription { tick }")
    let seen = try time.run { [server] in
      async let seen = {
        var seen: [String] = []
        let all = stream.catchingUp { gap in
          if gap.reason == .lineage { throw Down() }
          // A query that was given up, by a time-out for example, in a task that was not cancelled.
          if gap.reason.rawValue == "view-changed" { throw CancellationError() }
          return "up to \(gap.to.map { "\($0)" } ?? "?")"
        }
        for try await element in all {
          switch element {
          case .event(let result): seen.append(tick(result))
          case .gap(_, .success(let snapshot)): seen.append(snapshot)
          case .gap(let gap, .failure(let error)): seen.append("\(gap.reason.rawValue): \(error)")
          }
        }
        return seen
      }()
      let socket = try await server.accept()
      let id = try await socket.expectOperation().id
      socket.next(id, data: ["tick": 1], cursor: "a-1")
      for (reason, to) in [("retention", "a-9"), ("lineage", "b-2"), ("view-changed", "b-2")] {
        socket.say(#"{"id":"\#(id)","type":"gap","reason":"\#(reason)","from":null,"to":"\#(to)"}"#)
      }
      socket.next(id, data: ["tick": 3], cursor: "b-3")
      socket.complete(id)
      return try await seen
    }
    #expect(seen == ["1", "up to a-9", "lineage: Down()", "view-changed: CancellationError()", "3"])
  }
}
