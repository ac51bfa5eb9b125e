import Martlet

/// The three kinds of change: `onCreate`, `onUpdate`, `onDelete`.
///
/// Each is a subscription of its own, and all share one WebSocket. A predicate narrows what the server sends; events
/// that do not fulfil it never leave the server.
enum ChangesOfTodos: Stop {
  static let title = "Created, updated, deleted"

  /// A subscription with notes of its own: the four are independent of each other, and so is the order of their events.
  private struct Followed {
    let kind: String
    let sequence: MartletAsyncThrowingSequence<GraphQLSubscriptionEvent<Todo>>
    let notes = Transcript()

    init(_ kind: String, _ request: GraphQLRequest<Todo>) async throws {
      self.kind = kind
      let (sequence, notes) = (Martlet.API.subscribe(request: request), self.notes)
      self.sequence = sequence
      Task {
        for try await event in sequence {
          guard case .data(let result) = event else { continue }
          switch result {
          case .success(let todo): notes.tell(text(of: todo))
          case .failure(let error): notes.tell(error.errorDescription)
          }
        }
        notes.close()
      }
      try await sequence.ready()
    }

    /// Waits for the event with this number, and records it.
    func tell(event number: Int, to told: Transcript) async throws {
      try await notes.wait { $0.count >= number }
      told.tell("\(kind): \(notes.lines[number - 1])")
    }
  }

  static func visit(_ visit: Visit) async throws {
    let told = visit.told
    let created = try await Followed("created", .subscription(of: Todo.self, type: .onCreate))
    let updated = try await Followed("updated", .subscription(of: Todo.self, type: .onUpdate))
    let deleted = try await Followed("deleted", .subscription(of: Todo.self, type: .onDelete))
    let isDone = Todo.keys.isDone == true
    let finished = try await Followed("finished", .subscription(of: Todo.self, type: .onUpdate, where: isDone))
    told.tell("the server has \(try await visit.server.metric("websocket_sessions")) socket for all four")

    var tea = Todo("changes: tea", description: "green")
    _ = try await Martlet.API.mutate(request: .create(tea)).get()
    try await created.tell(event: 1, to: told)
    tea.description = nil
    _ = try await Martlet.API.mutate(request: .update(tea)).get()
    try await updated.tell(event: 1, to: told)
    tea.isDone = true
    _ = try await Martlet.API.mutate(request: .update(tea)).get()
    try await updated.tell(event: 2, to: told)
    try await finished.tell(event: 1, to: told)
    _ = try await Martlet.API.mutate(request: .delete(tea)).get()
    try await deleted.tell(event: 1, to: told)

    for followed in [created, updated, deleted, finished] {
      followed.sequence.cancel()
      // Returns when the loop has ended: nothing is recorded after that.
      try? await followed.notes.wait { _ in false }
      told.tell("\(followed.kind): \(followed.notes.lines.count) in all")
    }
    try await visit.server.has(0)
    told.tell("the server has 0 subscriptions")
  }

  private static func text(of todo: Todo) -> String {
    [todo.name, todo.description, todo.isDone == true ? "done" : "open"].compactMap { $0 }.joined(separator: ", ")
  }
}
