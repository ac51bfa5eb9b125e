import MartletDatasync
import MartletServer
import Testing

/// How long writes may hold the store's writer.
@Suite struct WriterTimeTests {
  @Test func `a write of the tree is not refused because it took long, as an application's transaction is`()
    async throws
  {
    try await TreeServing.with({ $0.limits.store.transactionTime = .zero }) { server in
      let node = try TreeServing.application(server).datasyncService.createManager().nodeThrows(for: "/open/list")
      try await node.set(["a": 1, "b": 2]).acknowledged()
      try await node.merge(["b": 3]).acknowledged()
      let error = await #expect(throws: ServerError.self) { try await server.transaction { _ in } }
      #expect(error.map { "\($0)".contains("longer than it may hold the writer") } == true)
    }
  }
}
