import Martlet
import MartletPublishers
import Synchronization
import Testing

@testable import SeedTour

/// Who cancels, with a thousand events of `martlet serve` on their way: no consumer gets another element, and the
/// server's source has stopped.
@Suite(.timeLimit(.minutes(1))) struct ThousandEventsTests {
  private static let count = 1_000
  /// The number of the todo at which somebody cancels.
  private static let cut = 499

  enum Cancelling: String, CaseIterable { case theSequence, oneSink, nobody }

  /// One subscriber's todos and its completion.
  private final class Seen: Sendable {
    let todos = Transcript()
    let ends = Transcript()
    let held = Mutex<AnyCancellable?>(nil)
  }

  @Test(arguments: Cancelling.allCases)
  func `two sinks see all of them until one cancels`(who: Cancelling) async throws {
    let server = try await ServeProcess.open()
    let client = try GraphQLClient(url: server.url)
    let sequence = Martlet.withClient(client) {
      Martlet.API.subscribe(request: .subscription(of: Todo.self, type: .onCreate))
    }
    let publisher = Martlet.Publisher.create(sequence)
    let (all, filtered) = (Seen(), Seen())
    let first = publisher.sink {
      all.ends.tell("\($0)")
    } receiveValue: { event in
      guard let todo = event.todo else { return }
      all.todos.tell(todo)
      guard todo == "\(Self.cut)" else { return }
      switch who {
      case .theSequence: sequence.cancel()
      case .oneSink: all.held.withLock { $0 }?.cancel()
      case .nobody: break
      }
    }
    all.held.withLock { $0 = first }
    let second = publisher.filter { $0.todo != nil }.sink {
      filtered.ends.tell("\($0)")
    } receiveValue: { event in
      if let todo = event.todo { filtered.todos.tell(todo) }
    }
    filtered.held.withLock { $0 = second }
    try await sequence.ready()

    try await Self.write(by: client)
    if who == .nobody {
      try await filtered.todos.wait { $0.count == Self.count }
      #expect(try await server.metric("subscriptions_ended_total") == 0)
      sequence.cancel()
    }
    try await server.has(0)
    try await filtered.ends.wait(for: "finished")
    #expect(try await server.metric("subscriptions_started_total") == 1)
    #expect(try await server.metric("subscriptions_ended_total") == 1)
    if who != .oneSink { try await all.ends.wait(for: "finished") }

    // A write and a round trip on the same socket: what was still on its way would have arrived by now.
    try await Martlet.withClient(client) { try await Todo.write("late") }
    let again = client.subscribe("subscription { onCreateTodo { id } }")
    try await again.ready()
    let last = who == .nobody ? Self.count : Self.cut + 1
    #expect(all.todos.lines == (0..<last).map { "\($0)" })
    #expect(filtered.todos.lines == (0..<(who == .nobody ? Self.count : Self.cut)).map { "\($0)" })
    #expect(all.ends.lines == (who == .oneSink ? [] : ["finished"]))
    #expect(filtered.ends.lines == ["finished"])
    #expect("\(sequence.state)" == "finished(cancelled)")
    client.shutDown()
    await server.stop()
  }

  @Test func `a loop that cancels its sequence gets no other element`() async throws {
    let server = try await ServeProcess.open()
    let client = try GraphQLClient(url: server.url)
    let sequence = Martlet.withClient(client) {
      Martlet.API.subscribe(request: .subscription(of: Todo.self, type: .onCreate))
    }
    try await sequence.ready()
    try await Self.write(by: client)
    var seen: [String] = []
    for try await event in sequence {
      if let todo = event.todo { seen.append(todo) }
      if event.todo == "\(Self.cut)" { sequence.cancel() }
    }
    #expect(seen == (0...Self.cut).map { "\($0)" })
    try await server.has(0)
    client.shutDown()
    await server.stop()
  }

  /// A thousand todos named by their numbers, a hundred in each request.
  private static func write(by client: GraphQLClient) async throws {
    for start in stride(from: 0, to: count, by: 100) {
      let fields = (start..<start + 100).map { #"t\#($0): createTodo(input: {id: "\#($0)", name: "\#($0)"}) { id }"# }
      let answer = try await client.mutate("mutation { \(fields.joined(separator: " ")) }", as: JSONValue.self)
      #expect(answer.errors.isEmpty)
    }
  }
}

extension GraphQLSubscriptionEvent<Todo> {
  /// The todo's name, if it is one.
  var todo: String? {
    switch self {
    case .connection: nil
    case .data(let result): try? result.get().name
    }
  }
}
