// One of two subscribers of one publisher is cancelled: the sequence is disconnected, and the other one is told.
import Foundation
import Martlet
import MartletPublishers
import SeedSupport

struct Todo: Model {
  var id: String
  var name: String
  enum CodingKeys: String, ModelKey { case id, name }
}

try Martlet.configure(url: Served.url)
let sequence = Martlet.API.subscribe(request: .subscription(of: Todo.self, type: .onCreate))
let publisher = Martlet.Publisher.create(sequence)
let allUpdates = publisher.sink {
  print("all: \($0)")
} receiveValue: { event in
  if case .connection(let state) = event { print("all: \(state)") }
  if case .data(.success(let todo)) = event { print("all: \(todo.name)") }
}
let filteredUpdates =
  publisher
  .filter { event in if case .data = event { true } else { false } }
  .sink {
    print("filtered: \($0)")
  } receiveValue: { event in
    if case .data(.success(let todo)) = event { print("filtered: \(todo.name)") }
  }
await journal.wait(2)
try await Served.addTodo("1", "milk", nil)
await journal.wait(4)
//= 000-7
await journal.wait(5)
try await Served.feeds(0)
try await Served.addTodo("2", "bread", nil)
print("over: \(sequence.state)")
