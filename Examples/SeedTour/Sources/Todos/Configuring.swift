import Foundation
import Martlet

/// `Martlet.API` is used without a client in sight. It gets its client once, when the program starts.
///
/// Before that it does not trap: a subscription ends at once with an error that says what is missing, a query throws
/// the same error. A second `configure` is refused, so that two parts of a program cannot take each other's server
/// away. `configure` also takes a file, the environment, or a client made elsewhere.
enum Configuring: Stop {
  static let title = "A client for Martlet.API"

  static func visit(_ visit: Visit) async throws {
    let told = visit.told
    do {
      let subscription = Martlet.API.subscribe(request: .subscription(of: Todo.self, type: .onCreate))
      for try await event in subscription { told.tell("an event without a server: \(event)") }
    } catch let error as Martlet.ConfigurationError {
      told.tell("the subscription: \(error.errorDescription)")
    }
    do {
      _ = try await Martlet.API.query(request: .list(Todo.self))
    } catch let error as Martlet.ConfigurationError {
      told.tell("the query: \(error.errorDescription)")
      told.tell("what helps: \(error.recoverySuggestion)")
    }

    try settings(visit)
    try Martlet.configure(url: visit.server.url)
    let page = try await Martlet.API.query(request: .list(Todo.self)).get()
    told.tell("configured, and the server has \(page.items.count) todos")
    do {
      try Martlet.configure(url: visit.server.url)
    } catch {
      told.tell("once more: \(error.errorDescription)")
    }
  }

  /// The same from a file and from the environment: what is wrong with them is found when they are read, and the next
  /// try may be a better one.
  private static func settings(_ visit: Visit) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("seed-tour-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("martlet.json")
    try #"{"url": "\#(visit.server.url)", "api-key": "…"}"#.write(to: file, atomically: true, encoding: .utf8)
    do {
      try Martlet.configure(file: file)
    } catch {
      visit.told.tell("a file with an unknown member: \(error.reason)")
    }
    do {
      try Martlet.configure(environment: [:])
    } catch {
      visit.told.tell("an empty environment: \(error.reason)")
    }
  }
}
