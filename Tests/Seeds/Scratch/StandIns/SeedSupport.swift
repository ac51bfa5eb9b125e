// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// What the runs of the seeds' blocks share: a journal of what they print, and the other side of the conversation.
import Foundation
import Martlet
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Stands before the standard library's: a program's lines go to the journal, which its run can wait for.
public func print(_ item: Any) { journal.add("\(item)") }

public let journal = Journal()

/// The lines a program printed, in order.
public final class Journal: Sendable {
  private struct State {
    var lines: [String] = []
    var waiting: [(isDue: @Sendable ([String]) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
  }
  private let state = Mutex(State())

  public func add(_ line: String) {
    let due = state.withLock { state in
      FileHandle.standardOutput.write(Data((line + "\n").utf8))
      state.lines.append(line)
      defer { state.waiting.removeAll { $0.isDue(state.lines) } }
      return state.waiting.filter { $0.isDue(state.lines) }
    }
    for waiter in due { waiter.continuation.resume() }
  }

  /// Returns when so many lines were printed since the program began.
  public func wait(_ count: Int) async { await wait { $0.count >= count } }

  /// Returns when a line with this text in it was printed since the program began.
  public func wait(for text: String) async { await wait { $0.contains { $0.contains(text) } } }

  private func wait(until isDue: @escaping @Sendable ([String]) -> Bool) async {
    await withCheckedContinuation { continuation in
      let isDueNow = state.withLock { state in
        if isDue(state.lines) { return true }
        state.waiting.append((isDue, continuation))
        return false
      }
      if isDueNow { continuation.resume() }
    }
  }
}

/// The server of the run.
public enum Served {
  /// The key of a server that asks for one.
  public static let key = ProcessInfo.processInfo.environment["MARTLET_SEED_KEY"]
  public static let http = ProcessInfo.processInfo.environment["MARTLET_SEED_URL"] ?? "http://127.0.0.1:1/graphql"
  public static let socket = http.replacing("http://127.0.0.1", with: "ws://localhost")
  public static var url: URL { get throws { try URL(text: http) } }

  /// Somebody else, who writes.
  private static let other: Result<GraphQLClient, any Error> = Result {
    var configuration = ConnectionConfiguration()
    if let key { configuration.headers = [(name: "x-api-key", value: key)] }
    return try GraphQLClient(url: try url, configuration: configuration)
  }

  /// Adds a todo.
  public static func addTodo(_ id: String, _ name: String, _ description: String?) async throws {
    try await write(
      "mutation($id: ID!, $name: String!, $text: String) { createTodo(input: { id: $id, name: $name, description: $text }) { id name description } }",
      ["id": .string(id), "name": .string(name), "text": description.map { .string($0) } ?? .null])
  }

  /// Adds a post.
  public static func addPost(_ id: String, _ title: String, _ rating: Double) async throws {
    try await write(
      "mutation($id: ID!, $title: String!, $rating: Float!) { createPost(input: { id: $id, title: $title, rating: $rating }) { id } }",
      ["id": .string(id), "title": .string(title), "rating": .double(rating)])
  }

  /// Adds a review.
  public static func addReview(_ id: String, _ episode: String, stars: Int64, _ commentary: String? = nil) async throws
  {
    try await write(
      "mutation($id: ID!, $episode: Episode!, $stars: Int!, $text: String) { createReview(input: { id: $id, episode: $episode, stars: $stars, commentary: $text }) { id episode stars commentary } }",
      [
        "id": .string(id), "episode": .string(episode), "stars": .int(stars),
        "text": commentary.map { .string($0) } ?? .null,
      ])
  }

  private static func write(_ document: String, _ variables: JSONObject) async throws {
    let answer = try await other.get().mutate(document, variables: variables)
    if !answer.errors.isEmpty { throw Failure("\(answer.errors)") }
  }

  /// Returns when the server feeds so many subscriptions, and no other.
  public static func feeds(_ count: Int) async throws {
    guard let page = URL(string: "/metrics", relativeTo: try url) else { throw Failure("no address") }
    while true {
      var request = URLRequest(url: page)
      if let key { request.setValue(key, forHTTPHeaderField: "x-api-key") }
      let (body, _) = try await URLSession.shared.data(for: request)
      if String(decoding: body, as: UTF8.self).contains("\nmartlet_subscriptions \(count)\n") { return }
    }
  }

  public struct Failure: Error, CustomStringConvertible {
    public let description: String
    public init(_ description: String) { self.description = description }
  }
}

/// A network that nobody can be reached by.
public struct Unreachable: NetworkTransport {
  public init() {}

  public func send(_ request: OperationRequest) async throws -> OperationPayload {
    throw Served.Failure("nobody is there")
  }

  public func subscribe(_ request: OperationRequest, feeding feed: SubscriptionFeed) {
    feed.finish(throwing: Served.Failure("nobody is there"))
  }
}

extension URL {
  init(text: String) throws {
    guard let url = URL(string: text) else { throw Served.Failure("\(text) is no address") }
    self = url
  }
}
