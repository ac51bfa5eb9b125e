// A screen follows todos in a task: without a client, with one, to an event that is no todo, to its own cancel.
import Foundation
import Martlet
import SeedSupport

struct Todo: Model {
  var id: String
  var name: String
  /// The server's may have none, and an event about such a todo does not decode.
  var description: String
  enum CodingKeys: String, ModelKey { case id, name, description }
}

@MainActor final class TodoScreen {
  //= 000-1
  //= 000-3
  //= 000-5
}

let screen = TodoScreen()
screen.createSubscription()
await journal.wait(1)

try Martlet.configure(url: Served.url)
screen.createSubscription()
await journal.wait(3)
try await Served.addTodo("1", "milk", "two litres")
await journal.wait(4)
try await Served.addTodo("2", "bread", nil)
await journal.wait(5)
try await Served.addTodo("3", "tea", "green")
await journal.wait(6)
screen.cancelSubscription()
await journal.wait(7)
try await Served.feeds(0)
try await Served.addTodo("4", "late", "not seen")
print("over")
