import Foundation
import Martlet
import MartletPublishers
import MartletServer
import Synchronization
import Testing

struct Todo: Model {
  var id: String
  var text: String
  enum CodingKeys: String, ModelKey { case id, text }
}

/// The two ways to follow todos, as an application writes them; `log` stands for what it shows.
final class TodoList {
  let log = Log()
  private var events: MartletAsyncThrowingSequence<GraphQLSubscriptionEvent<Todo>>?
  private var held: AnyCancellable?

  func follow() {
    let events = Martlet.API.subscribe(request: .subscription(of: Todo.self, type: .onCreate))
    self.events = events
    let log = self.log
    Task {
      do {
        for try await event in events {
          switch event {
          case .connection(let state):
            log.add("state \(state)")
          case .data(let result):
            switch result {
            case .success(let todo): log.add("todo \(todo.text)")
            case .failure(let error): log.add("failed \(error.errorDescription)")
            }
          }
        }
        log.add("ended")
      } catch {
        log.add("terminated \(error)")
      }
    }
  }

  func followByPublisher() {
    let events = Martlet.API.subscribe(request: .subscription(of: Todo.self, type: .onCreate))
    self.events = events
    let log = self.log
    held = Martlet.Publisher.create(events)
      .sink {
        if case let .failure(error) = $0 {
          log.add("terminated \(error)")
        } else {
          log.add("ended")
        }
      } receiveValue: { event in
        switch event {
        case .connection(let state):
          log.add("state \(state)")
        case .data(let result):
          switch result {
          case .success(let todo): log.add("todo \(todo.text)")
          case .failure(let error): log.add("failed \(error.errorDescription)")
          }
        }
      }
  }

  func stop() { events?.cancel() }
  func stopListening() { held?.cancel() }
}

/// Lines in the order they were added.
final class Log: Sendable {
  private let watcher = Watcher<String>()
  var lines: [String] { watcher.values }
  func add(_ line: String) { watcher.take(line) }
  func wait(for line: String) async { await watcher.wait { lines, _ in lines.contains(line) } }
}

@Suite(.timeLimit(.minutes(1))) struct TodoSubscriptionTests {
  private func served(_ body: () async throws -> Void) async throws {
    var configuration = ServerConfiguration(schema: "type Todo @model { id: ID! text: String! }")
    configuration.access = .development
    configuration.log = .silent
    configuration.loops = 1
    let server = try GraphQLServer(configuration)
    try server.start()
    do {
      let client = try GraphQLClient(url: try #require(.init(string: "ws://127.0.0.1:\(server.port)/graphql")))
      try await Martlet.withClient(client, body)
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  @Test(arguments: [false, true])
  func `an application follows new todos and stops when it likes`(byPublisher: Bool) async throws {
    try await served {
      let list = TodoList()
      if byPublisher { list.followByPublisher() } else { list.follow() }
      await list.log.wait(for: "state connected")
      for text in ["milk", "bread"] {
        _ = try await Martlet.API.mutate(request: .create(Todo(id: text, text: text))).get()
      }
      await list.log.wait(for: "todo bread")
      list.stop()
      await list.log.wait(for: "ended")
      _ = try await Martlet.API.mutate(request: .create(Todo(id: "late", text: "late"))).get()
      let told = ["state connecting", "state connected", "todo milk", "todo bread"]
      #expect(list.log.lines == told + (byPublisher ? [] : ["state disconnected"]) + ["ended"])
    }
  }

  @Test func `a cancelled sink receives nothing more`() async throws {
    try await served {
      let list = TodoList()
      list.followByPublisher()
      await list.log.wait(for: "state connected")
      list.stopListening()
      _ = try await Martlet.API.mutate(request: .create(Todo(id: "late", text: "late"))).get()
      #expect(list.log.lines == ["state connecting", "state connected"])
    }
  }
}
