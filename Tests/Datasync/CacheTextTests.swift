import Foundation
import MartletDatasync
import MartletServer
import Testing

/// What is known here as a text, with which another start begins.
@Suite struct CacheTextTests {
  private func unreachable(_ mode: DatasyncCacheMode) -> DatasyncManager {
    var configuration = DatasyncConfiguration(url: "ws://127.0.0.1:1")
    (configuration.cacheMode, configuration.readTimeout) = (mode, .milliseconds(1))
    return MartletApplication(configuration: configuration).datasyncService.createManager()
  }

  private func text(_ server: GraphQLServer, _ mode: DatasyncCacheMode = .none) async throws -> String {
    let application = TreeServing.application(server) { $0.cacheMode = mode }
    let manager = application.datasyncService.createManager()
    try await manager.nodeThrows(for: "/open").set(["a": ["x": 1], "list": ["k1": 1, "k2": 2, "k3": 3]]).acknowledged()
    let whole = try manager.nodeThrows(for: "/open/a").events(.valueChange)
    let last = try manager.nodeThrows(for: "/open/list").events(.children, window: .last(2))
    try await whole.ready()
    try await last.ready()
    // A value of a subscription that has ended is known as well.
    let ended = try manager.nodeThrows(for: "/open/list/k1").events(.valueChange)
    try await ended.ready()
    ended.cancel()
    let text = try await application.datasyncService.cache()
    withExtendedLifetime((whole, last)) {}
    application.datasyncService.shutDown()
    // When it answers, the file is no longer written.
    _ = try? await application.datasyncService.queuedWrites()
    return text
  }

  @Test func `an application that begins with the text knows its values without a server, windows included`()
    async throws
  {
    try await TreeServing.with { server in
      let text = try await text(server)
      let manager = unreachable(.initialized(cache: text))
      let reading = try await manager.nodeThrows(for: "/open/a").value()
      #expect(reading.source == .cache)
      #expect(reading.value.json == ["x": 1])
      #expect(reading.revision != nil)
      var shown = try manager.nodeThrows(for: "/open/list").events(.childAddition, window: .last(2)).makeAsyncIterator()
      #expect(try await shown.next()?.key == "k2")
      #expect(try await shown.next()?.key == "k3")
      #expect(try await manager.nodeThrows(for: "/open/list/k1").cachedValue().value.asInt == 1)
      let error = await #expect(throws: DatasyncError.self) { try await manager.nodeThrows(for: "/open/b").value() }
      #expect(error?.code == .unknownValue)
    }
  }

  @Test func `with a server the values of the text are shown first, and then what was written since`() async throws {
    try await TreeServing.with { server in
      let text = try await text(server)
      let writer = TreeServing.application(server).datasyncService.createManager()
      try await writer.nodeThrows(for: "/open/a/y").set(2).acknowledged()
      let application = TreeServing.application(server) { $0.cacheMode = .initialized(cache: text) }
      let node = try application.datasyncService.createManager().nodeThrows(for: "/open/a")
      var events = try node.events(.valueChange).makeAsyncIterator()
      #expect(try await events.next()?.value.json == ["x": 1])
      #expect(try await events.next()?.value.json == ["x": 1, "y": 2])
      // The text is not written to, and another one has what is known now.
      #expect(try await application.datasyncService.cache() != text)
    }
  }

  @Test func `a file's values are in the text, and a revoked one is not`() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let mode = DatasyncCacheMode.automatic(file: folder + "/cache")
    try await TreeServing.with { server in
      _ = try await text(server, mode)
      let application = TreeServing.application(server) { $0.cacheMode = mode }
      let service = application.datasyncService
      let known = try await service.cache()
      #expect(known.contains("/open/a") && known.contains("/open/list/k1"), "\(known)")
      #expect(
        try await unreachable(.initialized(cache: known)).nodeThrows(for: "/open/a").value().value.json == ["x": 1])
      let events = try service.createManager().nodeThrows(for: "/open/a").events(.valueChange)
      try await events.ready()
      try await server.reload(treeRules: #"{"rules": {"open": {"list": {".read": true}}}}"#)
      await #expect(throws: DatasyncError.self) { for try await _ in events {} }
      let left = unreachable(.initialized(cache: try await service.cache()))
      let error = await #expect(throws: DatasyncError.self) { try await left.nodeThrows(for: "/open/a").value() }
      #expect(error?.code == .unknownValue)
      #expect(try await left.nodeThrows(for: "/open/list/k1").value().value.asInt == 1)
      service.shutDown()
    }
  }

  @Test(arguments: [
    "", "{}", "[]", #"{"datasyncCache":2,"values":[]}"#, #"{"datasyncCache":1,"values":[{"path":"a.b"}]}"#,
  ])
  func `a text that is none of a cache is refused`(text: String) throws {
    let node = try unreachable(.initialized(cache: text)).nodeThrows(for: "/open")
    let error = #expect(throws: DatasyncError.self) { try node.set(1) }
    #expect(error?.code == .storage)
  }
}
