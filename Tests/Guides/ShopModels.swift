import MartletServer

/// Two related models, and a write of both or neither by the program itself.
struct Shop: Sendable {
  static let schema = """
    type Customer @model {
      id: ID!
      name: String!
      orders: [Order] @hasMany(indexName: "byCustomer", fields: ["id"])
    }

    type Order @model {
      id: ID!
      customerID: ID! @index(name: "byCustomer", sortKeyFields: ["placed"], queryField: "ordersByCustomer")
      placed: AWSDateTime!
      total: Float!
      customer: Customer @belongsTo(fields: ["customerID"])
    }
    """

  let server: GraphQLServer

  init() throws {
    var configuration = ServerConfiguration(schema: Self.schema)
    configuration.access = .development
    server = try GraphQLServer(configuration)
  }

  func firstOrder(of name: String, total: Double, placed: String) async throws -> JSONObject {
    try await server.transaction { transaction in
      let customer = try transaction.create("Customer", ["name": .string(name)])
      return try transaction.create(
        "Order", ["customerID": customer["id"] ?? .null, "placed": .string(placed), "total": .double(total)])
    }
  }
}
