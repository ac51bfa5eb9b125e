import Martlet

/// The same list over the three protocols that GraphQL servers speak over WebSockets. They are not compatible: the
/// client says which one it speaks, and a server of another one is an error that names both.
///
/// `martlet serve` speaks all three. Each gets the token where its protocol has a place for it: in `connection_init`,
/// or, with AppSync, in the authorisation of the handshake and of each subscription.
enum Dialects: Stop {
  static let title = "Three protocols over WebSockets"

  @MainActor static func visit(_ visit: Visit) async throws {
    let told = visit.told
    let server = try await ServeProcess.guarded()
    let dialects: [(name: String, dialect: Dialect)] = [
      ("graphql-transport-ws", .graphqlWsProtocol),
      ("graphql-ws, the older one", .subscriptionWsProtocol),
      ("AppSync's", .appSync),
    ]
    for (name, dialect) in dialects {
      told.tell(name)
      let service = ReviewService(server, webSocketProtocol: dialect)
      let list = ReviewList(told)
      list.load(service.client, episode: .empire)
      try await server.has(1)
      let seen = told.lines.count
      try await Review.write(.jedi, 1, by: service.client)
      try await Review.write(.empire, 5, "No, I am", by: service.client)
      try await told.wait { $0.count == seen + 1 }
      list.cancel()
      try await server.has(0)
      service.client.shutDown()
    }
    await server.stop()
    try await names(dialects.map(\.dialect), told)
  }

  /// The subprotocols that a client offers to a server.
  @MainActor private static func names(_ dialects: [Dialect], _ told: Transcript) async throws {
    let premiere = try Premiere()
    premiere.openDoors()
    for dialect in dialects {
      let service = ReviewService(http: premiere.httpURL, socket: premiere.url, webSocketProtocol: dialect)
      let list = ReviewList(told)
      list.load(service.client)
      try await premiere.show(episode: "NEWHOPE", stars: 4)
      let came = premiere.dialects.lines.count
      try await told.wait(for: "reloaded: NEWHOPE ****", times: came)
      list.cancel()
      try await premiere.isEmpty()
      service.client.shutDown()
    }
    told.tell("a server has met \(premiere.dialects.lines.joined(separator: ", "))")
    await premiere.close()
  }
}
