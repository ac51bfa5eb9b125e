import Foundation
import Martlet
import MartletPublishers

/// A model names its fields; `martlet schema print` shows what the server makes of its type.
struct Chore: Model {
  var id: String
  var name: String
  var done: Bool?

  enum CodingKeys: String, ModelKey { case id, name, done }
}

/// Calls of Amplify's API category after the rename of `Amplify` to `Martlet`.
enum Chores {
  /// Once, when the program starts.
  static func configure(_ server: URL) throws {
    try Martlet.configure(url: server)
  }

  static func add(_ name: String) async throws -> Chore {
    let result = try await Martlet.API.mutate(
      request: .create(Chore(id: UUID().uuidString, name: name, done: false)))
    switch result {
    case .success(let chore): return chore
    case .failure(let error): throw error
    }
  }

  static func open() async throws -> [Chore] {
    let chore = Chore.keys
    var open: [Chore] = []
    var token: String?
    repeat {
      let page = try await Martlet.API.query(
        request: .list(Chore.self, where: chore.done != true, limit: 100, nextToken: token)
      ).get()
      open += page
      token = page.nextToken
    } while token != nil
    return open
  }

  static func finish(_ chore: Chore) async throws {
    var changed = chore
    changed.done = true
    _ = try await Martlet.API.mutate(request: .update(changed)).get()
  }

  /// Lasts until its task is cancelled; the server drops it then.
  static func follow(_ show: @Sendable (String) -> Void) async throws {
    for try await event in Martlet.API.subscribe(request: .subscription(of: Chore.self, type: .onCreate)) {
      switch event {
      case .connection(.connected): show("live")
      case .connection(.gap): show("read the list again")
      case .connection: break
      case .data(.success(let chore)): show(chore.name)
      case .data(.failure(let error)): show(error.errorDescription)
      }
    }
  }

  /// The same with a publisher; the subscription ends with its `AnyCancellable`.
  static func names(_ show: @escaping @Sendable (String) -> Void) -> AnyCancellable {
    let created = Martlet.API.subscribe(request: .subscription(of: Chore.self, type: .onCreate))
    return Martlet.Publisher.create(created).sink(
      receiveCompletion: { _ in show("ended") },
      receiveValue: { event in if case .data(.success(let chore)) = event { show(chore.name) } })
  }
}
