#if canImport(UIKit) && !os(watchOS)
  import Martlet
  import UIKit

  // The controller of `ReviewScreen`. No Apple system is among the machines that test this project: what it does is run
  // without it; it itself is only parsed.

  /// Follows reviews while it is on the screen.
  final class ReviewViewController: UIViewController {
    private let client: GraphQLClient
    private let label = UILabel()
    private var subscriptionTask: Task<Void, Never>?

    init(client: GraphQLClient) {
      self.client = client
      super.init(nibName: nil, bundle: nil)
    }

    @available(*, unavailable) required init?(coder: NSCoder) { nil }

    deinit {
      subscriptionTask?.cancel()
    }

    override func loadView() {
      view = label
    }

    override func viewDidAppear(_ animated: Bool) {
      super.viewDidAppear(animated)
      subscriptionTask = Task { [weak self, client] in
        do {
          let subscription = try client.subscribe(subscription: ReviewAddedSubscription())
          for try await result in subscription {
            self?.updateUI(with: result.data)
          }
        } catch {
          self?.label.text = "No reviews: \(error)"
        }
      }
    }

    override func viewDidDisappear(_ animated: Bool) {
      super.viewDidDisappear(animated)
      subscriptionTask?.cancel()
    }

    private func updateUI(with data: ReviewAddedSubscription.Data?) {
      label.text = data?.reviewAdded?.line
    }
  }
#endif
