import Martlet

/// Follows new todos with a loop.
///
/// The subscription outlives the function that made it, so a property holds it; `cancel()` on it ends the loop and
/// notifies the server. Between the data come states of the connection: a lost connection does not end the loop, it
/// says `interrupted` and then `connected` again.
///
/// Everything here belongs to the main actor, as it would beside a view, and needs no annotation but the class's.
@MainActor final class TodoFollower {
  private var subscription: MartletAsyncThrowingSequence<GraphQLSubscriptionEvent<Todo>>?
  private let told: Transcript

  init(_ told: Transcript) {
    self.told = told
  }

  func createSubscription() {
    let subscription = Martlet.API.subscribe(request: .subscription(of: Todo.self, type: .onCreate))
    self.subscription = subscription
    Task {
      do {
        for try await subscriptionEvent in subscription {
          switch subscriptionEvent {
          case .connection(let subscriptionConnectionState):
            show("the connection is \(subscriptionConnectionState)")
          case .data(let result):
            switch result {
            case .success(let createdTodo): show("a new todo: \(createdTodo.name)")
            case .failure(let error): show("an event that is not a todo: \(error.errorDescription)")
            }
          }
        }
        show("the loop has ended")
      } catch {
        show("the subscription has failed: \(error)")
      }
    }
  }

  func cancelSubscription() {
    subscription?.cancel()
  }

  /// Where an application would change its view.
  private func show(_ line: String) { told.tell(line) }
}

enum TodoLoop: Stop {
  static let title = "New todos, by a loop"

  @MainActor static func visit(_ visit: Visit) async throws {
    let follower = TodoFollower(visit.told)
    follower.createSubscription()
    try await visit.told.wait(for: "the connection is connected")
    try await Todo.write("loop: tea", "loop: milk")
    try await visit.told.wait(for: "a new todo: loop: milk")

    follower.cancelSubscription()
    follower.cancelSubscription()
    try await visit.told.wait(for: "the loop has ended")
    try await visit.server.has(0)
    visit.told.tell("the server has 0 subscriptions")
    try await Todo.write("loop: no listener sees this")
  }
}
