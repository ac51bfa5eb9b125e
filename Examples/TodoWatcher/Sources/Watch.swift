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

  /// The words are the server's URL and, where it is not started with --dev, an API key or a token.
  static func main() async throws {
    let words = CommandLine.arguments.dropFirst()
    guard let url = URL(string: words.first ?? "ws://127.0.0.1:8090/graphql") else { return }
    var configuration = ConnectionConfiguration()
    if let key = words.dropFirst().first { configuration.credentials = { _ in .bearer(key) } }
    let client = try GraphQLClient(url: url, configuration: configuration)
    let stream = client.subscribe("subscription { onCreateTodo { text } }", as: Added.self)
    try await stream.ready()
    print("Watching.")
    for try await event in stream {
      if let gap = event.gap { print("Events are missing: \(gap.reason.rawValue)") }
      if let todo = event.data?.onCreateTodo { print(todo.text) }
    }
  }
}
