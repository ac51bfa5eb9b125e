#if canImport(SwiftUI)
  import Martlet
  import SwiftUI

  // The view of `ReviewFeedModel`, and one that needs no model. No Apple system is among the machines that test this
  // project: what these views do is run without them, by `ReviewFeedScreen`; they themselves are only parsed.

  /// Starts its subscription when it appears. SwiftUI cancels the task, and with it the subscription, when it
  /// disappears.
  struct LatestReviewView: View {
    let client: GraphQLClient
    @State private var latestReview: ReviewAddedSubscription.Data.ReviewAdded?
    @State private var error: (any Error)?

    var body: some View {
      Group {
        if let review = latestReview {
          ReviewRow(review: review)
        } else if let error {
          Text("No reviews: \(String(describing: error))")
        } else {
          ProgressView("Waiting for reviews…")
        }
      }
      .task {
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
  }

  /// The same with the model.
  struct ReviewFeedView: View {
    let client: GraphQLClient
    @State private var model = ReviewFeedModel()

    var body: some View {
      ReviewContent(model: model)
        .task {
          await model.subscribe(using: client)
        }
    }
  }

  /// What the model holds.
  struct ReviewContent: View {
    let model: ReviewFeedModel

    var body: some View {
      if let review = model.latestReview {
        ReviewRow(review: review)
      } else if let error = model.error {
        Text("No reviews: \(String(describing: error))")
      } else {
        ProgressView("Waiting for reviews…")
      }
    }
  }

  /// One review.
  struct ReviewRow: View {
    let review: ReviewAddedSubscription.Data.ReviewAdded

    var body: some View {
      VStack(alignment: .leading) {
        Text(String(repeating: "★", count: max(0, min(review.stars, 5))))
        if let commentary = review.commentary { Text(commentary) }
      }
    }
  }
#endif
