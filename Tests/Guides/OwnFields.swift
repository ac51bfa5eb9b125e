import MartletServer

/// A schema whose fields are Swift code, with events of its own in the change log.
struct Thermometer: Sendable {
  static let schema = """
    type Query { celsius(station: ID!): Float }
    type Reading { station: ID! celsius: Float! }
    type Subscription { readings(station: ID): Reading }
    """

  let server: GraphQLServer

  init(measure: @escaping @Sendable (String) async -> Double?) throws {
    var configuration = ServerConfiguration(schema: Self.schema)
    configuration.access = .development
    configuration.topics = ["readings": "readings"]
    configuration.resolvers = { resolvers in
      resolvers.resolve("Query", "celsius") { request in
        let station = request.string("station") ?? ""
        guard let celsius = await measure(station) else {
          throw ResolverError("There is no station \(station).", extensions: ["code": "NOT_FOUND"])
        }
        return celsius
      }
    }
    server = try GraphQLServer(configuration)
  }

  /// Subscribers get it, also those that come back later.
  func report(_ station: String, _ celsius: Double) async throws {
    _ = try await server.publish(
      topic: "readings", payload: ["station": .string(station), "celsius": .double(celsius)])
  }
}
