import Foundation
import Martlet

/// Prints the text of every todo that is created, also of those that were created while there was no connection.
@main
enum Watch {
  struct Added: Decodable, Sendable {
    struct Todo: Decodable, Sendable {
      let text: String
    }
    let onCreateTodo: Todo
  }

  static func main() async throws {
    guard let url = URL(string: CommandLine.arguments.dropFirst().first ?? "ws://127.0.0.1:8090/graphql") else {
      return
    }
    let client = try GraphQLClient(url: url)
    let stream = client.subscribe("subscription { onCreateTodo { text } }", as: Added.self)
    try await stream.ready()
    print("Watching.")
    for try await event in stream {
      if let gap = event.gap { print("Events are missing: \(gap.reason.rawValue)") }
      if let todo = event.data?.onCreateTodo { print(todo.text) }
    }
  }
}
