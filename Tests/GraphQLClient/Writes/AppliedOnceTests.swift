import Foundation
import Martlet
import MartletRuntime
import MartletSimulation
import Testing

/// Mutations that apply once although their answers are lost, against the server of this package (P16).
@Suite struct AppliedOnceTests {
  /// The real server under random cuts, by HTTP and by the socket.
  @Test(arguments: [true, false])
  func `with answers dropped at random each write of the real server applies exactly once`(byHTTP: Bool) throws {
    var cuts = 0
    for seed in 1...5 as ClosedRange<UInt64> {
      let executor = SimulatedExecutor(seed: seed)
      let network = SimulatedNetwork(executor)
      network.conditions.cutsPerMillion = 60_000
      let server = SimulatedServer(executor, network, schema: Scenario.schema)
      try executor.run { try server.start() }
      var configuration = ConnectionConfiguration()
      configuration.requestTransport = byHTTP ? .http : .socket
      configuration.assumesWriteNumbers = true
      configuration.reconnect.firstDelay = .milliseconds(10)
      configuration.reconnect.longestDelay = .milliseconds(50)
      configuration.reconnect.attempts = nil
      let environment = ClientEnvironment(
        loop: executor.makeLoop("client"), sockets: WebSockets(network, chance: Chance(seed: seed)), http: nil,
        requests: .connections(network),
        spawner: executor.spawner, seed: seed)
      let url = try #require(URL(string: "http://localhost:8080/graphql"))
      let client = try GraphQLClient(url: url, configuration: configuration, environment: environment)
      let acknowledged = try executor.run {
        var answers: [String?] = []
        for value in 1...20 {
          let answer = try await client.mutate(
            "mutation Add($value: Int!) { createItem(input: { group: 1, value: $value }) { id } }",
            variables: ["value": value], appliesOnce: true)
          answers.append(answer.data?["createItem"]?["id"]?.string)
        }
        return answers
      }
      #expect(acknowledged.count == 20)
      #expect(server.log.map(\.value) == Array(1...20))
      // The answer to a repeat may be unable to show the record again; it never names another.
      for (id, logged) in zip(acknowledged, server.log) where id != nil { #expect(id == logged.id) }
      cuts += network.linkCount - 1
    }
    // Faults did happen; otherwise this proves nothing.
    #expect(cuts > 5)
  }
}
