import Foundation
import Martlet
import MartletDatasync
import MartletGraphQLClient
import MartletServer
import Testing

/// A manager that is released, without any call, takes its subscriptions with it.
@Suite(.timeLimit(.minutes(1))) struct ManagerEndTests {
  @Test(arguments: [false, true])
  func `the server sends nothing more for the subscriptions of a released manager`(withoutData: Bool) async throws {
    try await TreeServing.with { server in
      let writer = try TreeServing.application(server).datasyncService.createManager().nodeThrows(for: "/open/a")
      var environment = try ClientEnvironment.shared()
      let counting = CountingSockets(try #require(environment.sockets))
      environment.sockets = counting
      let application = MartletApplication(
        configuration: DatasyncConfiguration(url: "ws://127.0.0.1:\(server.port)"), environment: environment)
      let staying = application.datasyncService.createManager()
      var leaving: DatasyncManager? = application.datasyncService.createManager()
      let type = DatasyncEventType.value(change: true, withoutData: withoutData)
      let transcript = Transcript()
      weak let subscription = leaving?.node(for: "/open/a")?.subscribe(to: type) { _ in
        transcript.add("event")
      } onCompletion: { completion in
        if case .cancellation = completion { transcript.add("over") }
      }
      try await subscription?.ready()
      _ = await transcript.wait(1)
      counting.reset()
      try await writer.set(0).acknowledged()
      _ = await transcript.wait(2)
      #expect(counting.received > 0)
      leaving = nil
      #expect(await transcript.wait(3) == ["event", "event", "over"])
      // Answered after the server has ended the listener.
      _ = try await staying.nodeThrows(for: "/open/none").value()
      counting.reset()
      for _ in 0..<10 { try await writer.set(String(repeating: "x", count: 1_000)).acknowledged() }
      _ = try await staying.nodeThrows(for: "/open/none").value()
      // The answer to the read.
      #expect(counting.received < 200)
      #expect(transcript.all.count == 3)
      application.datasyncService.shutDown()
    }
  }

  @Test func `a callback that runs does not keep its manager`() async throws {
    try await TreeServing.with { server in
      let application = TreeServing.application(server)
      var manager: DatasyncManager? = application.datasyncService.createManager()
      weak let released = manager
      let (transcript, gate) = (Transcript(), DispatchSemaphore(value: 0))
      manager?.node(for: "/open/a")?.subscribe(to: .valueChange, queue: DispatchQueue(label: "slow")) { event in
        transcript.add("runs")
        gate.wait()
        transcript.add(event.node == nil ? "the manager has gone" : "the manager is there")
      } onCompletion: { completion in
        if case .cancellation = completion { transcript.add("over") }
      }
      _ = await transcript.wait(1)
      manager = nil
      // The loop may hold it until the end of what it does at this moment.
      while released != nil { await Task.yield() }
      gate.signal()
      #expect(await transcript.wait(3) == ["runs", "the manager has gone", "over"])
      application.datasyncService.shutDown()
    }
  }
}
