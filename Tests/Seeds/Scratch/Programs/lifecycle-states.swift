// The states of a subscription that the server completes. What decides them waits for the program's lines, so that none
// depends on who is faster.
import Foundation
import Martlet
import MartletServer
import SeedSupport

func handle(_ result: GraphQLResponse<ReviewAddedSubscription.Data>) {
  print("\(result.data?.reviewAdded?.stars ?? 0) stars")
}

var configuration = ServerConfiguration(
  schema: """
    type Query { today: String }
    type Review { id: ID! stars: Int! }
    type Subscription { reviewAdded: Review }
    """)
configuration.access = .development
configuration.resolvers = { resolvers in
  resolvers.resolve("Query", "today") { _ in "Sunday" }
  resolvers.stream("Subscription", "reviewAdded") { _ in
    AsyncStream<JSONValue> { reviews in
      Task {
        reviews.yield(["id": "1", "stars": 5])
        await journal.wait(3)
        reviews.yield(["id": "2", "stars": 1])
        await journal.wait(5)
        reviews.finish()
      }
    }
  }
}
let server = try GraphQLServer(configuration)
try server.start()
var settings = ConnectionConfiguration()
settings.credentials = { _ in
  await journal.wait(1)
  return Credentials()
}
let client = try GraphQLClient(
  url: URL(string: "ws://127.0.0.1:\(server.port)/graphql").unsafelyUnwrapped, configuration: settings)

//= 003-4

await journal.wait(6)
await server.stop()
print("over")
