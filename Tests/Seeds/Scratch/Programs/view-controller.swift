// A view controller that follows reviews while its view is shown.
import Martlet
import SeedSupport
import UIKit

//= 003-7

extension ReviewViewController {
  func updateUI(with data: ReviewAddedSubscription.Data?) {
    MainActor.assertIsolated()
    print("\(data?.reviewAdded?.stars ?? 0) stars")
  }
}

let client = try GraphQLClient(url: Served.url)
let controller = ReviewViewController()
controller.client = client
controller.viewDidLoad()
controller.viewDidAppear(false)
try await Served.feeds(1)
try await Served.addReview("1", "JEDI", stars: 5)
await journal.wait(1)
try await Served.addReview("2", "JEDI", stars: 1)
await journal.wait(2)
controller.viewDidDisappear(false)
try await Served.feeds(0)
try await Served.addReview("3", "JEDI", stars: 3)

controller.client = GraphQLClient(networkTransport: Unreachable())
controller.viewDidAppear(false)
await journal.wait(3)
print("over")
