import Foundation
import Martlet
import MartletDatasync
import MartletGraphQLClient
import MartletServer
import Testing

@Suite struct ExactlyOnceTests {
  /// Two seeds with a thousand increments and others with fewer; `MARTLET_SIM_SEEDS=20` gives each a thousand.
  private static let longSeeds = ProcessInfo.processInfo.environment["MARTLET_SIM_SEEDS"].flatMap(UInt64.init) ?? 2

  @Test func `a thousand increments over sockets that are cut at random add up to a thousand`() async throws {
    try await TreeServing.with { server in
      for seed in 0..<20 as Range<UInt64> {
        var environment = try ClientEnvironment.shared()
        environment.sockets = environment.sockets.map { CuttingSockets($0, seed: seed) }
        var configuration = DatasyncConfiguration(url: "ws://127.0.0.1:\(server.port)")
        configuration.connection.reconnect.firstDelay = .milliseconds(1)
        let application = MartletApplication(configuration: configuration, environment: environment)
        let manager = application.datasyncService.createManager()
        let counter = try manager.nodeThrows(for: "/open/counter\(seed)")
        let count = seed < Self.longSeeds ? 1_000 : 50
        let writes = try (0..<count).map { _ in try counter.set(DatasyncServerValue.increment(1)) }
        for write in writes { try await write.acknowledged() }
        application.datasyncService.shutDown()
        let check = try TreeServing.application(server).datasyncService.createManager()
          .nodeThrows(for: "/open/counter\(seed)")
        #expect(try await check.value(as: Int.self) == count, "seed \(seed)")
      }
    }
  }
}
