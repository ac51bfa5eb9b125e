// Two subscribers of one publisher hear of each todo, until the sequence is cancelled.
import Foundation
import Martlet
import MartletPublishers
import SeedSupport

struct Todo: Model {
  var id: String
  var name: String
  enum CodingKeys: String, ModelKey { case id, name }
}

typealias Event = GraphQLSubscriptionEvent<Todo>

/// Whether an event has a todo whose name is long.
nonisolated func isLong(_ event: Event) -> Bool {
  if case .data(.success(let todo)) = event { todo.name.count > 4 } else { false }
}

/// Prints an event.
nonisolated func shown(by listener: String) -> (Event) -> Void {
  { event in
    switch event {
    case .connection(let state): print("\(listener): \(state)")
    case .data(.success(let todo)): print("\(listener): \(todo.name)")
    case .data(.failure(let error)): print("\(listener): \(error)")
    }
  }
}

/// Prints the end.
nonisolated func ended(for listener: String) -> (Subscribers.Completion<any Error>) -> Void {
  { print("\(listener): \($0)") }
}

/// Somebody adds two todos; returns when both listeners have heard of them.
func someTodos() async throws {
  await journal.wait(2)
  try await Served.addTodo("1", "milk", nil)
  await journal.wait(3)
  try await Served.addTodo("2", "bread", nil)
  await journal.wait(5)
}

try Martlet.configure(url: Served.url)
//= 000-6
await journal.wait(7)
try await Served.feeds(0)
try await Served.addTodo("3", "cheese", nil)
print("over: \(sequence.state)")
