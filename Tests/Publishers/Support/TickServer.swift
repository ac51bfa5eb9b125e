import Foundation
import Martlet
import MartletGraphQLExecution
import MartletJSON
import MartletServer
import Synchronization

/// A server of this process whose ticks come from the test, and which says when their source has stopped.
final class TickServer: Sendable {
  let server: GraphQLServer
  let client: GraphQLClient
  private let sources = Watcher<AsyncStream<JSONValue>.Continuation>()
  private let endings: AsyncStream<Void>
  let stops = Counted()

  init() throws {
    let (endings, ended) = AsyncStream<Void>.makeStream()
    self.endings = endings
    let (stops, sources) = (self.stops, self.sources)
    var configuration = ServerConfiguration(schema: "type Query { hello: String } type Subscription { tick: Int }")
    configuration.access = .development
    configuration.log = .silent
    configuration.loops = 1
    configuration.resolvers = { resolvers in
      resolvers.resolve("Query", "hello") { _ in "hi" }
      resolvers.stream("Subscription", "tick") { _ in
        AsyncStream<JSONValue> { source in
          source.onTermination = { _ in
            stops.add()
            ended.yield()
          }
          sources.take(source)
        }
      }
    }
    server = try GraphQLServer(configuration)
    try server.start()
    guard let url = URL(string: "ws://127.0.0.1:\(server.port)/graphql") else { throw URLError(.badURL) }
    client = try GraphQLClient(url: url)
  }

  func subscribe() -> SubscriptionStream<GraphQLSubscriptionEvent<Int>> {
    Martlet.withClient(client) {
      Martlet.API.subscribe(
        request: GraphQLRequest("subscription { tick }", decodePath: "tick", responseType: Int.self))
    }
  }

  /// Sends numbers to the one subscription, once the server has it.
  func tick(_ numbers: Range<Int>) async {
    await sources.wait(for: 1)
    for number in numbers { sources.values.first?.yield(.int(Int64(number))) }
  }

  func finish() { sources.values.first?.finish() }

  /// Returns when the source has stopped.
  func sourceStopped() async {
    var iterator = endings.makeAsyncIterator()
    await iterator.next()
  }
}

typealias TickEvent = GraphQLSubscriptionEvent<Int>

extension GraphQLSubscriptionEvent<Int> {
  var tick: Int? {
    switch self {
    case .connection: nil
    case .data(let result): try? result.get()
    }
  }

  var isConnected: Bool {
    if case .connection(.connected) = self { true } else { false }
  }
}
