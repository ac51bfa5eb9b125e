import Foundation
import MartletDatasync
import MartletServer
import Testing

/// Subscriptions that are ended while events of theirs wait for the queue of their callback.
@Suite(.timeLimit(.minutes(1))) struct BusyQueueTests {
  @Test(arguments: ["subscription", "manager"])
  func `a subscription that is cancelled while its callback's queue is busy gets its end and no event`(
    ended: String
  ) async throws {
    try await TreeServing.with { server in
      let application = TreeServing.application(server)
      let writer = try application.datasyncService.createManager().nodeThrows(for: "/open/a")
      var manager: DatasyncManager? = application.datasyncService.createManager()
      let (transcript, queue) = (Transcript(), DispatchQueue(label: "busy"))
      queue.suspend()
      weak let subscription = try manager?.nodeThrows(for: "/open/a").subscribe(to: .valueChange, queue: queue) {
        transcript.add($0.line)
      } onCompletion: { _ in
        transcript.add("over")
      }
      try await subscription?.ready()
      for number in 0..<3 { try await writer.set(number).acknowledged() }
      if ended == "subscription" { subscription?.cancel() } else { manager = nil }
      queue.resume()
      #expect(await transcript.wait(1) == ["over"])
      // Behind whatever was in the queue.
      try await writer.set(9).acknowledged()
      await withCheckedContinuation { done in queue.async { done.resume() } }
      #expect(await transcript.wait(1) == ["over"])
      application.datasyncService.shutDown()
    }
  }
}
