import Martlet

/// What a view controller does, without the view: a task of its own while it is on the screen.
///
/// The task does not hold the controller, so that letting go of the controller ends the subscription as well.
@MainActor final class ReviewScreen {
  private let client: GraphQLClient
  private let told: Transcript
  private var subscriptionTask: Task<Void, Never>?

  init(client: GraphQLClient, told: Transcript) {
    self.client = client
    self.told = told
  }

  deinit {
    subscriptionTask?.cancel()
  }

  func didAppear() {
    subscriptionTask = Task { [weak self, client] in
      do {
        let subscription = try client.subscribe(subscription: ReviewAddedSubscription())
        for try await result in subscription {
          self?.update(with: result.data)
        }
      } catch {
        self?.show("the subscription has failed: \(error)")
      }
    }
  }

  func didDisappear() {
    subscriptionTask?.cancel()
  }

  /// Runs on the main actor, as every change of a view must.
  private func update(with data: ReviewAddedSubscription.Data?) {
    MainActor.assertIsolated()
    show(data?.reviewAdded?.line ?? "no review")
  }

  private func show(_ line: String) { told.tell("shown: \(line)") }
}

/// A screen that comes and goes, and one that is let go.
enum ReviewScreens: Stop {
  static let title = "A controller that comes and goes"

  @MainActor static func visit(_ visit: Visit) async throws {
    let client = try Transports.splitClient(visit.server)
    var screen: ReviewScreen? = ReviewScreen(client: client, told: visit.told)
    screen?.didAppear()
    try await see(4, client, visit)
    screen?.didDisappear()
    try await visit.server.has(0)
    visit.told.tell("off the screen: the server has 0 subscriptions")
    try await Review.write(.newhope, 1, by: client)

    screen?.didAppear()
    try await see(5, client, visit)
    screen = nil
    try await visit.server.has(0)
    visit.told.tell("let go: the server has 0 subscriptions")
    try await Review.write(.newhope, 1, by: client)
  }

  @MainActor private static func see(_ stars: Int, _ client: GraphQLClient, _ visit: Visit) async throws {
    try await visit.server.has(1)
    try await Review.write(.newhope, stars, by: client)
    try await visit.told.wait(for: "shown: NEWHOPE \(stars)")
  }
}
