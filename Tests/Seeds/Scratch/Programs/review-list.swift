// A table of reviews that grows as they are written, until its controller is gone.
import SeedSupport
import UIKit

//= 004-1

typealias Review = ReviewAddedSubscription.Data.ReviewAdded

final class ReviewCell: UITableViewCell {
  var episode: Episode?
  var stars = 0
  var commentary: String?
  var text: String { "\(episode?.rawValue ?? "?") \(stars) \(commentary ?? "-")" }
}

//= 004-2

extension ReviewViewController {
  /// What Interface Builder does.
  func hookUp(_ table: UITableView) {
    reviewTableView = table
    table.register(withIdentifier: "Cell") { ReviewCell() }
    table.onReload = { [weak self, unowned table] in
      guard let self else { return }
      let rows = (0..<tableView(table, numberOfRowsInSection: 0)).map { row in
        (tableView(table, cellForRowAt: IndexPath(row: row, section: 0)) as? ReviewCell)?.text ?? "an empty cell"
      }
      print(rows.joined(separator: "; "))
    }
  }
}

var controller: ReviewViewController? = ReviewViewController()
weak let watched = controller
controller?.hookUp(UITableView())
controller?.viewDidLoad()
try await Served.feeds(1)
try await Served.addReview("1", "JEDI", stars: 5, "Ewoks!")
await journal.wait(1)
try await Served.addReview("2", "NEWHOPE", stars: 4)
await journal.wait(2)
controller = nil
try await Served.feeds(0)
try await Served.addReview("3", "EMPIRE", stars: 3)
print("the controller is \(watched == nil ? "gone" : "there")")
