import Martlet

/// A list that grows with every review, fed by a callback: what a controller with a table does, without the table.
///
/// The callback runs on the main actor and holds the list weakly. The list holds what cancels the subscription; when
/// the list goes, so does the subscription, and the callback is let go with it.
@MainActor final class ReviewList {
  typealias Row = ReviewAddedSubscription.Data.ReviewAdded

  private var subscription: (any Cancellable & Sendable)?
  private var reviewList: [Row] = []
  private let told: Transcript

  init(_ told: Transcript) {
    self.told = told
  }

  deinit {
    subscription?.cancel()
  }

  /// Follows one episode, or all.
  /// - Parameter held: something the callback holds, to see it being let go.
  func load(_ client: GraphQLClient, episode: GraphQLNullable<Episode> = .none, holding held: AnyObject? = nil) {
    subscription = client.subscribe(subscription: ReviewAddedSubscription(episode: episode)) { [weak self] result in
      guard let self else { return }
      withExtendedLifetime(held) {}
      switch result {
      case .success(let graphQLResult):
        if let review = graphQLResult.data?.reviewAdded {
          reviewList.append(review)
          reload()
        } else {
          told.tell("no review: \(graphQLResult.errors)")
        }
      case .failure(let error):
        told.tell("the subscription has failed: \((error as? GraphQLClientError)?.code.description ?? "\(error)")")
      }
    }
  }

  func cancel() { subscription?.cancel() }

  // MARK: What a table asks for

  var numberOfRows: Int { reviewList.count }

  func cell(at row: Int) -> String {
    let review = reviewList[row]
    let stars = String(repeating: "*", count: max(0, min(review.stars, 5)))
    return [review.episode.rawValue, stars, review.commentary].compactMap { $0 }.joined(separator: " ")
  }

  /// As a table does when it reloads.
  private func reload() {
    told.tell("reloaded: \((0..<numberOfRows).map { cell(at: $0) }.joined(separator: " | "))")
  }
}

/// The reviews of one episode, and of all.
enum ReviewLists: Stop {
  static let title = "A list of reviews, by a callback"

  private final class Keepsake: Sendable {}

  @MainActor static func visit(_ visit: Visit) async throws {
    ReviewService.shared = ReviewService(visit.server)
    let client = ReviewService.shared.client
    var keepsake: Keepsake? = Keepsake()
    weak let heldByCallback = keepsake
    var list: ReviewList? = ReviewList(visit.told)
    list?.load(client, episode: .jedi, holding: keepsake)
    keepsake = nil
    try await visit.server.has(1)
    try await Review.write(.jedi, 5, "Ewoks!", by: client)
    try await Review.write(.empire, 4, by: client)
    try await Review.write(.jedi, 2, by: client)
    try await visit.told.wait(for: "reloaded: JEDI ***** Ewoks! | JEDI **")
    list = nil
    try await visit.server.has(0)
    while heldByCallback != nil { await Task.yield() }
    visit.told.tell("the list has gone: the server has 0 subscriptions, and the callback is let go")

    let all = ReviewList(visit.told)
    all.load(client)
    try await visit.server.has(1)
    try await Review.write(.empire, 4, by: client)
    try await visit.told.wait(for: "reloaded: EMPIRE ****")
    all.cancel()
    all.cancel()
    try await visit.server.has(0)
    visit.told.tell("cancelled twice: the server has 0 subscriptions")
    try await Review.write(.jedi, 1, by: client)
    visit.told.tell("rows: \(all.numberOfRows)")
  }
}
