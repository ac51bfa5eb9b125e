import Martlet

/// A todo as somebody thought it was: every one has a description.
struct DescribedTodo: Model {
  var id: String
  var name: String
  var description: String

  static let modelName = "Todo"
  enum CodingKeys: String, ModelKey { case id, name, description }
}

/// An event that does not fit its type is a `.failure` in its place, and the next event still comes.
enum BrokenEvents: Stop {
  static let title = "An event that does not fit"

  static func visit(_ visit: Visit) async throws {
    let told = visit.told
    let subscription = Martlet.API.subscribe(request: .subscription(of: DescribedTodo.self, type: .onCreate))
    try await subscription.ready()
    for todo in [
      Todo("broken: tea", description: "green"), Todo("broken: milk"), Todo("broken: bread", description: "rye"),
    ] {
      _ = try await Martlet.API.mutate(request: .create(todo)).get()
    }
    // All three have been sent by now, and wait here until they are taken.
    for try await event in subscription {
      switch event {
      case .connection(let state):
        told.tell("the connection is \(state)")
      case .data(.success(let todo)):
        told.tell("\(todo.name): \(todo.description)")
        if todo.description == "rye" { subscription.cancel() }
      case .data(.failure(let error)):
        // The rest of the text is the decoder's, and says which member it missed.
        told.tell("no todo: \(error.errorDescription.prefix { $0 != ":" })")
        switch error {
        case .transformationError(let arrived, _): told.tell("what arrived: \(arrived)")
        case .error, .partial: told.tell("the server's errors: \(error)")
        }
      }
    }
    told.tell("the loop has ended")
  }
}
