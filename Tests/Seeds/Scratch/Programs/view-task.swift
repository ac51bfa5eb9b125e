// A view that follows reviews while it is shown.
import Martlet
import SeedSupport
import SwiftUI

struct ReviewRow: View {
  let review: ReviewAddedSubscription.Data.ReviewAdded
  var body: some View { Text("review \(review.id): \(review.stars) stars") }
}

//= 003-5

let client = try GraphQLClient(url: Served.url)
let screen = Screen(ReviewFeedView(client: client)) { print($0) }
screen.appear()
try await Served.feeds(1)
try await Served.addReview("1", "JEDI", stars: 5)
await journal.wait(2)
try await Served.addReview("2", "JEDI", stars: 1)
await journal.wait(3)
await screen.disappear()
try await Served.feeds(0)
try await Served.addReview("3", "JEDI", stars: 2)
print("over")
