import Martlet

/// Where a subscription stands: pending, active, paused, finished.
///
/// The stream says it at any time, whichever transport it has. A task that is cancelled ends its loop as if the server
/// had completed the subscription; the state distinguishes the two.
enum States: Stop {
  static let title = "The states of a subscription"

  /// A subscription that the server does not have.
  private struct NothingSubscription: GraphQLSubscription {
    static let operationName = "Nothing"
    static let operationDocument = "subscription Nothing { nothing }"
    typealias Data = JSONValue
  }

  static func visit(_ visit: Visit) async throws {
    let told = visit.told
    let premiere = try Premiere()
    let client = try Transports.splitClient(http: premiere.httpURL, socket: premiere.url)
    try await completedByServer(premiere, client, told)
    try await cancelled(premiere, client, told)
    try await failed(client, told)
    try await paused(premiere, client, told)
    await premiere.close()
  }

  private static func completedByServer(
    _ premiere: Premiere, _ client: GraphQLClient, _ told: Transcript
  ) async throws {
    let subscription = try client.subscribe(subscription: ReviewAddedSubscription())
    told.tell("after the call: \(subscription.state)")
    premiere.openDoors()
    let following = Task {
      for try await result in subscription {
        told.tell("in the loop: \(subscription.state), \(result.data?.reviewAdded?.line ?? "no review")")
      }
      told.tell("after the loop: \(subscription.state)")
    }
    for stars in 4...5 {
      try await premiere.show(episode: "JEDI", stars: stars)
      try await told.wait(for: "in the loop: active, JEDI \(stars)")
    }
    premiere.end()
    try await following.value
  }

  private static func cancelled(_ premiere: Premiere, _ client: GraphQLClient, _ told: Transcript) async throws {
    let subscription = try client.subscribe(subscription: ReviewAddedSubscription())
    let following = Task {
      for try await result in subscription { told.tell("seen: \(result.data?.reviewAdded?.line ?? "no review")") }
      told.tell("after the task was cancelled: \(subscription.state)")
    }
    try await premiere.show(episode: "EMPIRE", stars: 3)
    try await told.wait(for: "seen: EMPIRE 3")
    following.cancel()
    try await following.value
    try await premiere.isEmpty()
    told.tell("the server's source has stopped")
  }

  private static func failed(_ client: GraphQLClient, _ told: Transcript) async throws {
    let subscription = try client.subscribe(subscription: NothingSubscription())
    do {
      for try await _ in subscription { told.tell("an event of nothing") }
    } catch let error as GraphQLClientError {
      told.tell("the loop has thrown: \(error.code)")
      guard case .finished(.error(let same)) = subscription.state else { return }
      told.tell("after an error: finished, with the same error: \("\(same)" == "\(error)")")
    }
  }

  private static func paused(_ premiere: Premiere, _ client: GraphQLClient, _ told: Transcript) async throws {
    let subscription = try client.subscribe(subscription: ReviewAddedSubscription())
    try await subscription.ready()
    let telling = Task {
      for await state in subscription.states { told.tell("state: \(state)") }
    }
    try await told.wait(for: "state: active")
    client.pause()
    try await told.wait(for: "state: paused")
    try await premiere.isEmpty()
    client.resume()
    try await told.wait(for: "state: active", times: 2)
    subscription.cancel()
    await telling.value
  }
}
