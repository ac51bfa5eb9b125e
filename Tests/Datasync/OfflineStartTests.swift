import Foundation
import Martlet
import MartletDatasync
import MartletGraphQLClient
import MartletRuntime
import MartletServer
import Testing

/// What a file keeps between one start of an application and the next.
@Suite struct OfflineStartTests {
  /// Ends an application and returns when its file is no longer written.
  private func end(_ application: MartletApplication) async {
    application.datasyncService.shutDown()
    _ = try? await application.datasyncService.queuedWrites()
  }

  private func folder() throws -> String {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return path
  }

  @Test func `an application that starts without a server shows what it knew, and its queue is written once`()
    async throws
  {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let mode = DatasyncCacheMode.automatic(file: folder + "/cache")
    try await TreeServing.with { server in
      let first = TreeServing.application(server) { $0.cacheMode = mode }
      let node = try first.datasyncService.createManager().nodeThrows(for: "/open/n")
      var events = try node.events(.valueChange).makeAsyncIterator()
      #expect(try await events.next()?.value.isNull == true)
      try await node.set(["count": 1]).acknowledged()
      first.datasyncService.isConnectionEnabled = false
      try (node / "count")?.set(DatasyncServerValue.increment(1))
      try (node / "text")?.set("offline")
      #expect(try await first.datasyncService.queuedWrites().count == 2)
      await end(first)

      var unreachable = DatasyncConfiguration(url: "ws://127.0.0.1:1")
      unreachable.cacheMode = mode
      let second = MartletApplication(configuration: unreachable)
      let known = try second.datasyncService.createManager().nodeThrows(for: "/open/n")
      var shown = try known.events(.valueChange).makeAsyncIterator()
      let value = try #require(try await shown.next())
      #expect(value.value.json == ["count": 2, "text": "offline"])
      #expect(!value.isAcknowledged)
      let reading = try await known.cachedValue()
      #expect(reading.source == .cache)
      #expect(reading.value.json == ["count": 2, "text": "offline"])
      #expect(try await second.datasyncService.queuedWrites().map(\.path) == ["/open/n/count", "/open/n/text"])
      await end(second)

      for _ in 0..<2 {
        let third = TreeServing.application(server) { $0.cacheMode = mode }
        let again = try third.datasyncService.createManager().nodeThrows(for: "/open/n")
        // Behind the queue, which is sent in its order.
        try await (again / "last")?.set(true).acknowledged()
        #expect(try await again.value().value.json == ["count": 2, "last": true, "text": "offline"])
        #expect(try await third.datasyncService.queuedWrites().isEmpty)
        await end(third)
      }
    }
  }

  @Test func `what a kept value contains is known at a start without a server, and how long ago it was the server's`()
    async throws
  {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let mode = DatasyncCacheMode.automatic(file: folder + "/cache")
    let clock = Lock<Int64>(1_000_000)
    func application(_ configuration: DatasyncConfiguration) throws -> MartletApplication {
      var (configuration, environment) = (configuration, try ClientEnvironment.shared())
      configuration.cacheMode = mode
      environment.calendar = { clock.withLock { $0 } }
      return MartletApplication(configuration: configuration, environment: environment)
    }
    try await TreeServing.with { server in
      let first = try application(DatasyncConfiguration(url: "ws://127.0.0.1:\(server.port)"))
      let node = try first.datasyncService.createManager().nodeThrows(for: "/open/n")
      try await node.set(["a": ["x": 1], "b": ["x": 2], "c": ["x": 0]]).acknowledged()
      let events = try node.events(.valueChange)
      try await events.ready()
      #expect(try await node.cachedValue().age == .zero)
      first.datasyncService.isConnectionEnabled = false
      clock.withLock { $0 += 5_000 }
      #expect(try await node.cachedValue().age == .seconds(5))
      #expect(try await (node / "a")?.value().age == .seconds(5))
      await end(first)
    }
    clock.withLock { $0 += 60_000 }
    let second = try application(DatasyncConfiguration(url: "ws://127.0.0.1:1"))
    let node = try second.datasyncService.createManager().nodeThrows(for: "/open/n")
    let below = try #require(try await (node / "a/x")?.cachedValue())
    #expect(below.value.asInt == 1)
    #expect(below.source == .cache)
    #expect(below.age == .seconds(65))
    // What the whole value does not have is known not to be there.
    #expect(try await (node / "d")?.cachedValue().value.isNull == true)
    let window = try await node.cachedValue(window: DatasyncWindow(by: .child("x")).first(2))
    #expect(window.value.keys == ["a", "c"])
    var shown = try node.events(.children, window: .last(1)).makeAsyncIterator()
    #expect(try await shown.next()?.key == "c")
    let error = await #expect(throws: DatasyncError.self) { try await node.parent?.cachedValue() }
    #expect(error?.code == .unknownValue)
    await end(second)
  }

  @Test func `a value that may no longer be read leaves the file`() async throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let mode = DatasyncCacheMode.automatic(file: folder + "/cache")
    try await TreeServing.with { server in
      let first = TreeServing.application(server) { $0.cacheMode = mode }
      let node = try first.datasyncService.createManager().nodeThrows(for: "/open/n")
      try await node.set("secret").acknowledged()
      let events = try node.events(.valueChange)
      var iterator = events.makeAsyncIterator()
      #expect(try await iterator.next()?.value.asString == "secret")
      try await server.reload(treeRules: #"{"rules": {}}"#)
      await #expect(throws: DatasyncError.self) { while try await iterator.next() != nil {} }
      await end(first)
      var unreachable = DatasyncConfiguration(url: "ws://127.0.0.1:1")
      (unreachable.cacheMode, unreachable.readTimeout) = (mode, .milliseconds(1))
      let second = MartletApplication(configuration: unreachable)
      let other = try second.datasyncService.createManager().nodeThrows(for: "/open/n")
      let error = await #expect(throws: DatasyncError.self) { try await other.value() }
      #expect(error?.code == .unknownValue)
      await end(second)
    }
  }

  @Test func `a file that is none of a cache is refused`() async throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Data("something else".utf8).write(to: URL(fileURLWithPath: folder + "/other"))
    var configuration = DatasyncConfiguration(url: "ws://127.0.0.1:1")
    configuration.cacheMode = .automatic(file: folder + "/other")
    let node = try MartletApplication(configuration: configuration).datasyncService.createManager()
      .nodeThrows(for: "/open")
    let error = #expect(throws: DatasyncError.self) { try node.set(1) }
    #expect(error?.code == .storage)
  }
}
