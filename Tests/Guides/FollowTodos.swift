import Martlet

/// Follows new todos and keeps the place, so that the next start of the program continues there.
struct TodoFollower: Sendable {
  struct Added: Decodable, Sendable {
    struct Todo: Decodable, Sendable {
      let text: String
    }
    let onCreateTodo: Todo
  }

  let client: GraphQLClient

  /// - Parameter place: the text of the cursor that the last run kept; nil begins with the oldest event there is.
  func follow(
    after place: String?, show: @Sendable (String) -> Void, keep: @Sendable (String) -> Void
  ) async throws {
    let start = place.flatMap { Cursor($0) }.map { SubscriptionStart.after($0) } ?? .oldest
    let stream = client.subscribe("subscription { onCreateTodo { text } }", as: Added.self, from: start)
    for try await event in stream {
      if let gap = event.gap { show("events are missing: \(gap.reason.rawValue)") }
      if let todo = event.data?.onCreateTodo { show(todo.text) }
      if let cursor = event.cursor, event.endsTransaction { keep("\(cursor)") }
    }
  }
}
