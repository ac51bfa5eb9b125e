import Martlet

/// The snippets of docs/guides/generate.md, on the types generated for Examples/SeedTour.
enum UseGenerated {
  static func subscriptions() -> [ReviewAddedSubscription] {
    let all = ReviewAddedSubscription()
    let ofOneEpisode = ReviewAddedSubscription(episode: .jedi)
    return [all, ofOneEpisode]
  }

  static func input() -> CreateReviewInput {
    var input = CreateReviewInput(episode: .jedi, stars: 5)
    input.commentary = "Again!"  // a value
    input.commentary = .null  // null: clears the field
    input.commentary = .none  // not given: leaves the field as it is
    return input
  }

  static func text(_ review: ReviewAddedSubscription.Data.ReviewAdded) -> String {
    switch review.episode {
    case .newhope, .empire, .jedi: "\(review.episode) \(review.stars)"
    case .unknown(let name): "an episode this program does not know: \(name)"
    }
  }
}
