import Martlet

extension ReviewParts {
  /// As a line of a list.
  var line: String { Review.line(episode, stars, commentary) }
}

extension ReviewAddedSubscription.Data.ReviewAdded {
  /// As a line of a list.
  var line: String { Review.line(episode, stars, commentary) }
}

/// Reviews as the tour shows and writes them.
enum Review {
  static func line(_ episode: Episode, _ stars: Int, _ commentary: String?) -> String {
    "\(episode.rawValue) \(stars)" + (commentary.map { ": \($0)" } ?? "")
  }

  /// Another visitor's work: a review, so that there is something to follow.
  static func write(
    _ episode: Episode, _ stars: Int, _ commentary: GraphQLNullable<String> = .none, by client: GraphQLClient
  ) async throws {
    let input = CreateReviewInput(episode: episode, stars: stars, commentary: commentary)
    let answer = try await client.perform(mutation: CreateReviewMutation(input: input))
    guard answer.data?.createReview != nil else { throw TourFailure("no review was written: \(answer.errors)") }
  }
}
