#if canImport(UIKit) && !os(watchOS)
  import Martlet
  import UIKit

  // The table of `ReviewList`. No Apple system is among the machines that test this project: what it does is run
  // without it; it itself is only parsed.

  /// A table that grows with every review of one episode.
  final class ReviewTableController: UITableViewController {
    private var subscription: (any Cancellable & Sendable)?
    private var reviewList: [ReviewAddedSubscription.Data.ReviewAdded] = []

    override func viewDidLoad() {
      super.viewDidLoad()
      tableView.register(UITableViewCell.self, forCellReuseIdentifier: "Review")
      subscription = ReviewService.shared.client
        .subscribe(subscription: ReviewAddedSubscription(episode: .jedi)) { [weak self] result in
          guard let self else { return }
          switch result {
          case .success(let graphQLResult):
            if let review = graphQLResult.data?.reviewAdded {
              reviewList.append(review)
              tableView.reloadData()
            }
          case .failure(let error):
            title = "No reviews: \(error)"
          }
        }
    }

    deinit {
      subscription?.cancel()
    }

    override func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int {
      reviewList.count
    }

    override func tableView(_ tableView: UITableView, cellForRowAt indexPath: IndexPath) -> UITableViewCell {
      let cell = tableView.dequeueReusableCell(withIdentifier: "Review", for: indexPath)
      cell.textLabel?.text = reviewList[indexPath.row].line
      return cell
    }
  }
#endif
