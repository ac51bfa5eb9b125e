// A screen follows todos by a publisher: without a client, to its own cancel, and of a server that ends the stream.
import Foundation
import Martlet
import MartletPublishers
import MartletServer
import SeedSupport

struct Todo: Model {
  var id: String
  var name: String
  var description: String
  enum CodingKeys: String, ModelKey { case id, name, description }
}

final class TodoScreen {
  //= 000-2
  //= 000-4
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
try await Served.feeds(0)
try await Served.addTodo("4", "late", "not seen")
print("cancelled")

var configuration = ServerConfiguration(
  schema: """
    type Query { today: String }
    type Todo { id: ID! name: String! description: String }
    type Subscription { onCreateTodo: Todo }
    """)
configuration.access = .development
configuration.resolvers = { resolvers in
  resolvers.resolve("Query", "today") { _ in "Sunday" }
  resolvers.stream("Subscription", "onCreateTodo") { _ in
    AsyncStream<JSONValue> { todos in
      todos.yield(["id": "5", "name": "soap", "description": "the last"])
      todos.finish()
    }
  }
}
let brief = try GraphQLServer(configuration)
try brief.start()
let client = try GraphQLClient(url: URL(string: "ws://127.0.0.1:\(brief.port)/graphql").unsafelyUnwrapped)
Martlet.withClient(client) { screen.createSubscription() }
await journal.wait(12)
await brief.stop()
print("over")
