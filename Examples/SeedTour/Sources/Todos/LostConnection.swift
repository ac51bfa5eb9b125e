import Foundation
import Martlet

/// A server that is killed and comes back, and a loop that continues.
///
/// Other clients end a subscription when the connection is lost. Here it says `interrupted`, dials again, says
/// `connected`, and what was written meanwhile comes in its place: nothing twice, nothing missing.
enum LostConnection: Stop {
  static let title = "A connection that is lost"

  static func visit(_ visit: Visit) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("seed-tour-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let server = try await ServeProcess.open(data: folder)
    var configuration = ConnectionConfiguration()
    // The default begins with half a second; a tour does not wait so long.
    configuration.reconnect.firstDelay = .milliseconds(50)
    let client = try GraphQLClient(url: server.url, configuration: configuration)
    try await Martlet.withClient(client) {
      let subscription = Martlet.API.subscribe(request: .subscription(of: Todo.self, type: .onCreate))
      async let following: Void = follow(subscription, visit.told)
      try await subscription.ready()
      try await Todo.write("before")
      try await visit.told.wait(for: "a new todo: before")

      visit.told.tell("now the server is killed")
      await server.kill()
      try await visit.told.wait(for: "the connection is interrupted")
      let again = try await ServeProcess.open(data: folder, port: server.url.port ?? 0)
      // By a client of its own, which need not wait for the other one's next attempt.
      try await Martlet.withClient(try GraphQLClient(url: again.url)) { try await Todo.write("meanwhile", "after") }
      try await visit.told.wait(for: "a new todo: after")
      subscription.cancel()
      try await following
      client.shutDown()
      await again.stop()
    }
  }

  private static func follow(
    _ subscription: MartletAsyncThrowingSequence<GraphQLSubscriptionEvent<Todo>>, _ told: Transcript
  ) async throws {
    var isInterrupted = false
    for try await event in subscription {
      switch event {
      case .connection(.interrupted):
        // Reported again with each attempt that fails, with the reason and the attempt's number.
        if !isInterrupted { told.tell("the connection is interrupted") }
        isInterrupted = true
      case .connection(let state):
        told.tell("the connection is \(state)")
        isInterrupted = false
      case .data(let result): told.tell("a new todo: \(try result.get().name)")
      }
    }
    told.tell("the loop has ended")
  }
}
