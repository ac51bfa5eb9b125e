// An observable model that follows reviews while its view is shown, and keeps the error that ends it.
import Martlet
import SeedSupport
import SwiftUI

struct ReviewContent: View {
  let model: ReviewFeedModel

  var body: some View {
    Group {
      if let review = model.latestReview {
        Text("review \(review.id): \(review.stars) stars, \(model.error.map { "\($0)" } ?? "well")")
      } else {
        ProgressView("nothing yet, \(model.error.map { "\($0)" } ?? "well")")
      }
    }
  }
}

//= 003-6

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

let other = Screen(ReviewFeedView(client: GraphQLClient(networkTransport: Unreachable()))) { print($0) }
other.appear()
await journal.wait(5)
await other.disappear()
print("over")
