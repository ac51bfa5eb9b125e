// The types generated from the sample's operation: their names, what they select, and that they follow a server.
import Foundation
import Martlet
import SeedSupport

let operation = ReviewAddedSubscription()
print("\(ReviewAddedSubscription.operationKind) \(ReviewAddedSubscription.operationName)")
let client = try GraphQLClient(url: Served.url)
let reviews = try client.subscribe(subscription: operation)
try await reviews.ready()
for (number, episode) in ["NEWHOPE", "EMPIRE", "JEDI"].enumerated() {
  try await Served.addReview("\(number)", episode, stars: Int64(number + 3))
}
var seen = 0
for try await result in reviews {
  let review: ReviewAddedSubscription.Data.ReviewAdded? = result.data?.reviewAdded
  print(
    review.map { Mirror(reflecting: $0).children.map { "\($0.label ?? "?") \($0.value)" }.joined(separator: ", ") }
      ?? "none")
  seen += 1
  if seen == 3 { break }
}
