import MartletServer

/// A weather station: a query, a field computed from another, and readings that reach their subscribers.
struct WeatherStation: Sendable {
  static let schema = """
    type Query {
      stations: [String!]!
      fahrenheit(celsius: Float!): Float!
    }

    type Reading {
      station: ID!
      celsius: Float!
      fahrenheit: Float!
    }

    type Subscription {
      readings(station: ID): Reading
    }
    """

  let server: GraphQLServer

  init(port: Int, access: ServerConfiguration.Access = .development) throws {
    var configuration = ServerConfiguration(schema: Self.schema)
    configuration.access = access
    configuration.port = port
    configuration.topics = ["readings": "readings"]
    configuration.resolvers = { resolvers in
      resolvers.resolve("Query", "stations") { _ in ["roof", "cellar"] }
      resolvers.compute("Query", "fahrenheit") { request in
        Self.fahrenheit(request.double("celsius") ?? 0)
      }
      resolvers.compute("Reading", "fahrenheit") { request in
        Self.fahrenheit(request.parent("celsius")?.double ?? 0)
      }
    }
    server = try GraphQLServer(configuration)
  }

  /// Appends a reading to the log: subscribers get it now, or when they come back.
  func report(station: String, celsius: Double) async throws {
    try await server.publish(
      topic: "readings", payload: ["station": .string(station), "celsius": .double(celsius)])
  }

  static func fahrenheit(_ celsius: Double) -> Double { celsius * 1.8 + 32 }
}
