import Foundation

/// Walks every stop of the tour against a `martlet serve` of its own, and prints what happens.
@main
enum SeedTour {
  static func main() async {
    let interrupts = Interrupts { ServeProcess.endAll() }
    defer { interrupts.cancel() }
    do {
      try await Tour.walk()
    } catch {
      FileHandle.standardError.write(Data("The tour ended early: \(error)\n".utf8))
      ServeProcess.endAll()
      exit(1)
    }
  }
}

/// The stops in their order.
enum Tour {
  static let stops: [any Stop.Type] = [
    Configuring.self, TodoLoop.self, TodoSink.self, TwoSinks.self, ChangesOfTodos.self, BrokenEvents.self,
    Endings.self, LostConnection.self, Transports.self, States.self, FeedModel.self, ReviewScreens.self,
    ReviewLists.self,
    Authorization.self, Dialects.self, LocalPosts.self, SyncedPosts.self, ContactValues.self, ContactChildren.self,
    ContactCallbacks.self,
  ]

  /// Visits all of them with one server. The first stop configures `Martlet.API` for the others.
  static func walk() async throws {
    let server = try await ServeProcess.open()
    for (number, stop) in stops.enumerated() {
      print("\(number == 0 ? "" : "\n")\(number + 1). \(stop.title)")
      try await visit(stop, Visit(server: server, told: Transcript(prints: true)))
    }
    await server.stop()
  }

  /// Visits one, and gives up when something that should happen does not.
  static func visit(_ stop: any Stop.Type, _ visit: Visit, within limit: Duration = .seconds(30)) async throws {
    try await withThrowingTaskGroup { group in
      group.addTask { try await stop.visit(visit) }
      group.addTask {
        try await Task.sleep(for: limit)
        throw TourFailure(
          "\(stop.title): nothing has happened for \(limit) after \(visit.told.lines.last ?? "the start")")
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }
}
