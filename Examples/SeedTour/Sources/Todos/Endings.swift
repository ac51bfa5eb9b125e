import Martlet
import MartletPublishers

/// How a subscription ends without being cancelled: the server completes it, or it fails.
///
/// A loop ends, or throws; a publisher completes with `.finished`, or with `.failure`. Models' subscriptions never end
/// by themselves, so the server that completes here is one written in Swift: see `Premiere`.
enum Endings: Stop {
  static let title = "The server's end, and failure"

  /// A model that the server does not have.
  private struct Ghost: Model {
    var id: String
    enum CodingKeys: String, ModelKey { case id }
  }

  static func visit(_ visit: Visit) async throws {
    let told = visit.told
    let premiere = try Premiere()
    premiere.openDoors()
    try await Martlet.withClient(try GraphQLClient(url: premiere.url)) {
      let request = GraphQLRequest(
        ReviewAddedSubscription.operationDocument, decodePath: "reviewAdded", responseType: ReviewParts.self)
      let looped = Martlet.API.subscribe(request: request)
      async let loop: Void = follow(looped, "loop", told)
      try await premiere.show(episode: "JEDI", stars: 5)
      try await told.wait(for: "loop: JEDI 5")
      premiere.end()
      await loop

      let held = attach(to: Martlet.API.subscribe(request: request), "sink", told)
      try await premiere.show(episode: "EMPIRE", stars: 4)
      try await told.wait(for: "sink: EMPIRE 4")
      premiere.end()
      try await told.wait(for: "sink: the end")
      held.cancel()
    }
    await premiere.close()

    let request = GraphQLRequest<Ghost>.subscription(of: Ghost.self, type: .onCreate)
    await follow(Martlet.API.subscribe(request: request), "loop", told)
    let held = attach(to: Martlet.API.subscribe(request: request), "sink", told)
    try await told.wait { $0.contains { $0.hasPrefix("sink: failure") } }
    held.cancel()
  }

  private static func follow<Value: Sendable>(
    _ sequence: MartletAsyncThrowingSequence<GraphQLSubscriptionEvent<Value>>, _ name: String, _ told: Transcript
  ) async {
    do {
      for try await event in sequence { told.tell("\(name): \(text(of: event))") }
      told.tell("\(name): the end")
    } catch {
      told.tell("\(name): failure: \(text(of: error))")
    }
  }

  private static func attach<Value: Sendable>(
    to sequence: MartletAsyncThrowingSequence<GraphQLSubscriptionEvent<Value>>, _ name: String, _ told: Transcript
  ) -> AnyCancellable {
    Martlet.Publisher.create(sequence).sink {
      switch $0 {
      case .finished: told.tell("\(name): the end")
      case .failure(let error): told.tell("\(name): failure: \(text(of: error))")
      }
    } receiveValue: { event in
      told.tell("\(name): \(text(of: event))")
    }
  }

  private static func text<Value>(of event: GraphQLSubscriptionEvent<Value>) -> String {
    switch event {
    case .connection(let state): "\(state)"
    case .data(.success(let value)): (value as? ReviewParts)?.line ?? "\(value)"
    case .data(.failure(let error)): error.errorDescription
    }
  }

  private static func text(of error: any Error) -> String {
    guard let error = error as? GraphQLClientError else { return "\(error)" }
    // What the server says of it, as far as its first full stop.
    let message = error.errors.first?["message"]?.string ?? error.message
    return "\(error.code), \(message.prefix { $0 != "." })"
  }
}
