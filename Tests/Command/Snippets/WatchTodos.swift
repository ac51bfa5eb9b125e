import Foundation
import Martlet

/// The Swift of the README's tutorial.
enum WatchTodos {
  struct Added: Decodable, Sendable {
    struct Todo: Decodable, Sendable {
      let id: String
      let text: String
    }
    let onCreateTodo: Todo
  }

  static func watch(_ url: URL, until enough: Int, told: (String) -> Void) async throws {
    var seen = 0
    let client = try GraphQLClient(url: url)
    let stream = client.subscribe("subscription { onCreateTodo { id text } }", as: Added.self)
    try await stream.ready()
    told("ready")
    for try await event in stream {
      if let gap = event.gap { told("Events are missing: \(gap.reason.rawValue)") }
      if let todo = event.data?.onCreateTodo { told(todo.text) }
      seen += 1
      if seen == enough { break }
    }
  }
}
