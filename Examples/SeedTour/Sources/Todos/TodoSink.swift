import Martlet
import MartletPublishers

/// Follows new todos with a publisher: Combine's on Apple platforms, elsewhere the same names from `MartletPublishers`.
///
/// Holding the `AnyCancellable` keeps the subscription. Cancelling it, or dropping it, disconnects from the server;
/// the one who cancels receives nothing more, not even the completion.
final class TodoSubscriber {
  private var subscription: AnyCancellable?
  private let told: Transcript

  init(_ told: Transcript) {
    self.told = told
  }

  func createSubscription() {
    let told = self.told
    let sequence = Martlet.API.subscribe(request: .subscription(of: Todo.self, type: .onCreate))
    subscription = Martlet.Publisher.create(sequence)
      .sink {
        if case let .failure(apiError) = $0 {
          told.tell("the subscription has failed: \(apiError)")
        } else {
          told.tell("the subscription has been closed")
        }
      } receiveValue: { event in
        switch event {
        case .connection(let subscriptionConnectionState):
          told.tell("the connection is \(subscriptionConnectionState)")
        case .data(let result):
          switch result {
          case .success(let createdTodo): told.tell("a new todo: \(createdTodo.name)")
          case .failure(let error): told.tell("an event that is not a todo: \(error.errorDescription)")
          }
        }
      }
  }

  func cancelSubscription() {
    subscription?.cancel()
  }

  func forgetSubscription() {
    subscription = nil
  }
}

enum TodoSink: Stop {
  static let title = "New todos, by a publisher"

  static func visit(_ visit: Visit) async throws {
    let told = visit.told
    let subscriber = TodoSubscriber(told)
    subscriber.createSubscription()
    try await told.wait(for: "the connection is connected")
    try await Todo.write("sink: tea")
    try await told.wait(for: "a new todo: sink: tea")
    subscriber.cancelSubscription()
    try await visit.server.has(0)
    told.tell("cancelled: the server has 0 subscriptions")
    try await Todo.write("sink: no listener sees this")

    subscriber.createSubscription()
    try await told.wait(for: "the connection is connected", times: 2)
    try await Todo.write("sink: milk")
    try await told.wait(for: "a new todo: sink: milk")
    subscriber.forgetSubscription()
    try await visit.server.has(0)
    told.tell("forgotten: the server has 0 subscriptions")
    try await Todo.write("sink: no listener sees this either")
  }
}
