import Martlet
import Observation

/// The newest review, observable by a view or anything else. It needs no view framework.
@Observable
class ReviewFeedModel {
  var latestReview: ReviewAddedSubscription.Data.ReviewAdded?
  var error: (any Error)?

  /// Follows the reviews until the task that called it is cancelled.
  func subscribe(using client: GraphQLClient) async {
    do {
      let subscription = try client.subscribe(subscription: ReviewAddedSubscription())
      for try await result in subscription {
        latestReview = result.data?.reviewAdded
      }
    } catch {
      self.error = error
    }
  }
}

/// What a view does with the model, without the view: it observes, starts a task when it appears and cancels it when it
/// disappears.
@MainActor final class ReviewFeedScreen {
  private let model = ReviewFeedModel()
  private let told: Transcript
  private var task: Task<Void, Never>?

  init(_ told: Transcript) {
    self.told = told
    draw()
  }

  func appear(_ client: GraphQLClient) {
    task = Task { await model.subscribe(using: client) }
  }

  func disappear() async {
    task?.cancel()
    await task?.value
  }

  /// Draws, and again after each change of what was read.
  private func draw() {
    withObservationTracking {
      if let error = model.error {
        told.tell("drawn: an error, \(error)")
      } else {
        told.tell("drawn: \(model.latestReview?.line ?? "waiting for reviews")")
      }
    } onChange: {
      Task { @MainActor [weak self] in self?.draw() }
    }
  }
}

/// Two appearances of one screen.
enum FeedModel: Stop {
  static let title = "A model that a view observes"

  @MainActor static func visit(_ visit: Visit) async throws {
    let client = try Transports.splitClient(visit.server)
    let screen = ReviewFeedScreen(visit.told)
    for appearance in 1...2 {
      screen.appear(client)
      try await visit.server.has(1)
      try await Review.write(.empire, 3 + appearance, by: client)
      try await visit.told.wait(for: "drawn: EMPIRE \(3 + appearance)")
      await screen.disappear()
      try await visit.server.has(0)
      visit.told.tell("disappeared: the server has 0 subscriptions")
    }
    try await Review.write(.empire, 1, by: client)
  }
}
