import Martlet
import MartletDatasync
import MartletGraphQLClient
import MartletServer
import Testing

@Suite struct ExactlyOnceTests {
  @Test func `a thousand increments over sockets that are cut at random add up to a thousand`() async throws {
    try await TreeServing.with { server in
      for seed in 0..<8 as Range<UInt64> {
        var environment = try ClientEnvironment.shared()
        environment.sockets = environment.sockets.map { CuttingSockets($0, seed: seed) }
        var configuration = DatasyncConfiguration(url: "ws://127.0.0.1:\(server.port)")
        configuration.connection.reconnect.firstDelay = .milliseconds(1)
        let application = MartletApplication(configuration: configuration, environment: environment)
        let manager = application.datasyncService.createManager()
        let counter = try manager.nodeThrows(for: "/open/counter\(seed)")
        let writes = try (0..<1_000).map { _ in try counter.set(DatasyncServerValue.increment(1)) }
        for write in writes { try await write.acknowledged() }
        application.datasyncService.shutDown()
        let check = try TreeServing.application(server).datasyncService.createManager()
          .nodeThrows(for: "/open/counter\(seed)")
        #expect(try await check.value(as: Int.self) == 1_000, "seed \(seed)")
      }
    }
  }
}
