import Martlet
import MartletDatasync
import MartletGraphQLClient
import MartletServer
import Testing

/// Changes that the server no longer has are reported as such, and only where they are asked for.
@Suite struct GapTests {
  private func reached(_ state: DatasyncState, _ application: MartletApplication) async {
    for await other in application.datasyncService.states where other == state { return }
  }

  private func away(
    _ server: GraphQLServer, _ type: DatasyncEventType, writes: Int
  ) async throws -> [DatasyncEvent] {
    let list = try TreeServing.application(server).datasyncService.createManager().nodeThrows(for: "/open/list")
    try await list.set(["a": 1, "b": 2]).acknowledged()
    let application = TreeServing.application(server)
    let manager = application.datasyncService.createManager()
    let events = try manager.nodeThrows(for: "/open/list").events(type)
    var iterator = events.makeAsyncIterator()
    var found: [DatasyncEvent] = []
    let first = if case .child = type { 2 } else { 1 }
    for _ in 0..<first { _ = try await iterator.next() }
    try await events.ready()
    application.datasyncService.isConnectionEnabled = false
    await reached(.disabled, application)
    for number in 0..<writes { try await list.merge(["b": 10 + number]).acknowledged() }
    try await list.merge(["end": 1]).acknowledged()
    application.datasyncService.isConnectionEnabled = true
    // Additions come before changes.
    while found.last?.key != "b", found.last?.value.json.object?["end"] == nil {
      guard let event = try await iterator.next() else { break }
      found.append(event)
    }
    return found
  }

  @Test func `more changes than the server looks through are a gap, and then the present children`() async throws {
    try await TreeServing.with({ $0.limits.tree.resumeChanges = 2 }) { server in
      let events = try await away(
        server, .child(addition: true, change: true, removal: true, gap: true), writes: 5)
      let gap = try #require(events.first?.gap)
      #expect(events.first?.eventType == .childGap)
      #expect(gap.reason == .tooManyChanges)
      #expect(gap.from != nil && gap.from != gap.to)
      #expect(events.dropFirst().map(\.line).sorted() == ["added end 1 after b", "changed b 14 after a"])
      #expect(events.dropFirst().allSatisfy { $0.gap == nil })
    }
  }

  @Test func `a listener of values gets the gap before the value`() async throws {
    try await TreeServing.with({ $0.limits.tree.resumeChanges = 2 }) { server in
      let events = try await away(server, .value(change: true, gap: true), writes: 5)
      #expect(events.map(\.eventType) == [.valueGap, .valueChange])
    }
  }

  @Test func `a gap is reported where it is asked for and the log does not reach back, and only there`() async throws {
    try await TreeServing.with({ $0.limits.tree.resumeChanges = 2 }) { server in
      let events = try await away(server, .children, writes: 5)
      #expect(events.allSatisfy { $0.gap == nil })
    }
    try await TreeServing.with { server in
      let events = try await away(server, .child(addition: true, change: true, gap: true), writes: 5)
      #expect(events.allSatisfy { $0.gap == nil })
      #expect(events.count == 2)
    }
  }
}
