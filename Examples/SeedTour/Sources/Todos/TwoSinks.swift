import Martlet
import MartletPublishers

/// Two subscribers of one sequence, one of them behind a filter.
///
/// Cancelling the sequence disconnects it and ends both; both get the completion. Cancelling one of the two
/// disconnects the sequence as well: the other gets the completion, the one that cancelled receives nothing more.
enum TwoSinks: Stop {
  static let title = "Two subscribers of one sequence"

  static func visit(_ visit: Visit) async throws {
    let told = visit.told
    try await sequenceCancelled(visit)
    try await Todo.write("urgent: too late")
    told.tell("-")
    try await subscriberCancelled(visit)
    try await Todo.write("urgent: too late as well")
  }

  private static func sequenceCancelled(_ visit: Visit) async throws {
    let sequence = Martlet.API.subscribe(request: .subscription(of: Todo.self, type: .onCreate))
    let (allUpdates, filteredUpdates) = attach(to: sequence, visit.told)
    try await both(sequence, visit, round: 1)
    sequence.cancel()
    try await visit.told.wait(for: "urgent ones: finished")
    try await visit.server.has(0)
    visit.told.tell("the server has 0 subscriptions")
    withExtendedLifetime((allUpdates, filteredUpdates)) {}
  }

  private static func subscriberCancelled(_ visit: Visit) async throws {
    let sequence = Martlet.API.subscribe(request: .subscription(of: Todo.self, type: .onCreate))
    let (allUpdates, filteredUpdates) = attach(to: sequence, visit.told)
    try await both(sequence, visit, round: 2)
    allUpdates.cancel()
    try await visit.told.wait(for: "urgent ones: finished", times: 2)
    try await visit.server.has(0)
    visit.told.tell("the server has 0 subscriptions")
    withExtendedLifetime(filteredUpdates) {}
  }

  /// Attaches the two.
  private static func attach(
    to sequence: MartletAsyncThrowingSequence<GraphQLSubscriptionEvent<Todo>>, _ told: Transcript
  ) -> (AnyCancellable, AnyCancellable) {
    let subscription = Martlet.Publisher.create(sequence)
    let allUpdates = subscription.sink(
      receiveCompletion: { told.tell("all: \($0)") }, receiveValue: { told.tell("all: \(text(of: $0))") })
    let filteredUpdates = subscription.filter { text(of: $0).hasPrefix("urgent") }.sink(
      receiveCompletion: { told.tell("urgent ones: \($0)") },
      receiveValue: { told.tell("urgent ones: \(text(of: $0))") })
    return (allUpdates, filteredUpdates)
  }

  /// Lets both see what they should.
  private static func both(
    _ sequence: MartletAsyncThrowingSequence<GraphQLSubscriptionEvent<Todo>>, _ visit: Visit, round: Int
  ) async throws {
    try await sequence.ready()
    try await visit.told.wait(for: "all: connected", times: round)
    try await Todo.write("water the plants \(round)", "urgent: pay the rent \(round)")
    try await visit.told.wait(for: "urgent ones: urgent: pay the rent \(round)")
  }

  private static func text(of event: GraphQLSubscriptionEvent<Todo>) -> String {
    switch event {
    case .connection(let state): "\(state)"
    case .data(.success(let todo)): todo.name
    case .data(.failure(let error)): error.errorDescription
    }
  }
}
