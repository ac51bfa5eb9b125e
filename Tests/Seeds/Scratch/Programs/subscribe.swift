// A subscription in a task, until it is cancelled.
import Foundation
import Martlet
import SeedSupport

func handle(_ result: GraphQLResponse<ReviewAddedSubscription.Data>) {
  print("\(result.data?.reviewAdded?.stars ?? 0) stars")
}

let client = try GraphQLClient(url: Served.url)
//= 003-3
try await subscription.ready()
try await Served.addReview("1", "JEDI", stars: 5)
await journal.wait(1)
try await Served.addReview("2", "JEDI", stars: 1)
await journal.wait(2)
subscription.cancel()
try await Served.feeds(0)
try await Served.addReview("3", "JEDI", stars: 3)
print("over: \(subscription.state)")
