import Foundation
import MartletDatasync
import MartletServer
import Testing

/// Which events each combination of kinds gets.
@Suite(.timeLimit(.minutes(1))) struct EventTypeTests {
  private static let queue = DispatchQueue(label: "event types")

  @Test func `each combination of children's kinds gets the events of its kinds, in one order`() async throws {
    try await TreeServing.with { server in
      let application = TreeServing.application(server)
      let manager = application.datasyncService.createManager()
      let list = try manager.nodeThrows(for: "/open/list")
      let everything = Transcript()
      let all = list.subscribe(to: .childEvent, queue: Self.queue) { everything.add($0.line) }
      var asked: [(type: DatasyncEventType, kinds: Set<String>, transcript: Transcript)] = []
      for number in 1..<16 where number & 7 != 0 {
        let (addition, change, removal, acknowledgement) = (
          number & 1 != 0, number & 2 != 0, number & 4 != 0, number & 8 != 0
        )
        var kinds: Set<String> = []
        if addition { kinds.insert("added") }
        if change { kinds.insert("changed") }
        if removal { kinds.insert("removed") }
        if acknowledgement { kinds.insert("acknowledged") }
        let transcript = Transcript()
        let type = DatasyncEventType.child(
          addition: addition, change: change, removal: removal, acknowledgement: acknowledgement)
        list.subscribe(to: type, queue: Self.queue) { transcript.add($0.line) }
        asked.append((type, kinds, transcript))
      }
      try await all.ready()
      let other = try TreeServing.application(server).datasyncService.createManager().nodeThrows(for: "/open/list")
      try await (other / "a")?.set(1).acknowledged()
      try await (other / "a")?.set(2).acknowledged()
      try await (list / "b")?.set(1).acknowledged()
      try await (list / "b")?.set(2).acknowledged()
      try await (list / "a")?.clear().acknowledged()
      // Two of another client's, and of each own write the event and its acknowledgement.
      let lines = await everything.wait(8)
      #expect(
        lines == [
          "added a 1", "changed a 2", "added b 1 after a pending", "acknowledged b 1 after a",
          "changed b 2 after a pending", "acknowledged b 2 after a", "removed a 2 pending", "acknowledged a null",
        ])
      for (type, kinds, transcript) in asked {
        let wanted = lines.filter { kinds.contains(String($0.prefix { $0 != " " })) }
        #expect(await transcript.wait(wanted.count) == wanted, "\(type)")
      }
      withExtendedLifetime(all) {}
    }
  }
}
