import Foundation
import Martlet
import MartletServer
import Testing

/// This target's default isolation is the main actor, as that of applications is. What it shows is that such code
/// compiles as it stands, and runs.
@Suite(.timeLimit(.minutes(1))) struct ScreenTests {
  private func served(_ body: (GraphQLClient) async throws -> Void) async throws {
    var configuration = ServerConfiguration(
      schema: """
        enum Episode { NEWHOPE JEDI }
        type Review @model { id: ID! episode: Episode! stars: Int! }
        type Todo @model { id: ID! text: String! }
        type Subscription { reviewAdded(episode: Episode): Review @aws_subscribe(mutations: ["createReview"]) }
        """)
    configuration.access = .development
    configuration.loops = 1
    let server = try GraphQLServer(configuration)
    try server.start()
    let client = try GraphQLClient(url: try #require(URL(string: "ws://127.0.0.1:\(server.port)/graphql")))
    do {
      try await Martlet.withClient(client) { try await body(client) }
    } catch {
      await server.stop()
      throw error
    }
    client.shutDown()
    await server.stop()
  }

  private func until(_ holds: () -> Bool) async {
    while !holds() { await Task.yield() }
  }

  @Test func `closures and loops of a screen change it as they stand`() async throws {
    try await served { client in
      let list = ReviewList()
      let feed = ReviewFeed()
      list.appear(client)
      let following = Task { await feed.follow(client) }
      let other = client.subscribe("subscription { reviewAdded { stars } }", as: Stars.self)
      try await other.ready()
      // A closure's subscription has no readiness: reviews are added until all have one.
      var events = other.makeAsyncIterator()
      var added = 0
      while list.stars.isEmpty || feed.latest == nil {
        added += 1
        list.add(client, stars: added)
        #expect(try await events.next()?.data?.reviewAdded?.stars == added)
      }
      #expect(list.failures == 0)
      following.cancel()
      await following.value
      #expect(feed.failure == nil)
    }
  }

  @Test(arguments: [false, true])
  func `todos reach a screen by a loop and by a publisher`(byPublisher: Bool) async throws {
    try await served { _ in
      let screen = TodoScreen()
      if byPublisher { screen.followByPublisher() } else { screen.follow() }
      await until { screen.told.count == 2 }
      _ = try await Martlet.API.mutate(request: .create(Todo(id: "1", text: "milk"))).get()
      await until { screen.told.count == 3 }
      #expect(screen.told == ["connecting", "connected", "milk"])
      screen.disappear()
      await until { screen.told.last == "ended" }
    }
  }

  @Test func `transports and interceptors of such a target serve a client`() async throws {
    let chained = InterceptedTransport(Answering(), provider: DefaultInterceptorProvider(interceptors: [Language()]))
    let client = GraphQLClient(networkTransport: chained)
    #expect(try await client.query("{ hello }").data?["hello"] == "world")
    let stream = client.subscribe("subscription { tick }")
    for try await _ in stream {}
    #expect("\(stream.state)" == "finished(completed)")
  }
}
