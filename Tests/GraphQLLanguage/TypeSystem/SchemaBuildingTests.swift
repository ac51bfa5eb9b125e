import MartletGraphQLLanguage
import Testing

@Suite struct `Building a schema` {
  @Test func `merges extensions and resolves references`() throws {
    let schema = try Schema.build(
      """
      "air travel" schema { query: Root }
      type Root { flight(id: ID!): Flight, search: [Thing!]! }
      interface Node { id: ID! }
      type Flight implements Node { id: ID! }
      extend type Flight { number: Int @deprecated }
      union Thing = Flight
      input Filter @oneOf { a: Int b: Float }
      """)
    #expect(schema.description == "air travel")
    #expect(schema.queryType?.name == "Root")
    #expect(schema.type("Boolean") != nil)
    #expect(schema.type("Float") != nil)
    let flight = try #require(schema.type("Flight"))
    #expect(flight.field("number")?.deprecationReason == "No longer supported")
    #expect(schema.type("Thing")?.includes(flight.id) == true)
    #expect(schema.type("Node")?.includes(flight.id) == true)
    #expect(schema.type("Filter")?.isOneOf == true)
    let search = try #require(schema.queryType?.field("search"))
    #expect(schema.describe(search.type) == "[Thing!]!")
    let root = try #require(schema.queryType)
    #expect(schema.field("__schema", on: root) === schema.schemaField)
    #expect(schema.field("__schema", on: flight) == nil)
    #expect(schema.field("__typename", on: flight) === schema.typenameField)
  }
}
