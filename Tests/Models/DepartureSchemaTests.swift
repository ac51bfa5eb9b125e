import Foundation
import MartletGraphQLLanguage
import MartletModelSDL
import MartletModels
import Testing

@Suite struct DepartureSchemaTests {
  static let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Examples/DepartureBoard/schema.graphql")

  @Test func `the departure board's schema has keys, indexes, relations and operations`() throws {
    let schema = try ModelSchema(String(contentsOf: Self.source, encoding: .utf8))
    let flight = try #require(schema.models.first { $0.name == "Flight" })
    #expect(flight.pluralName == "Flights")
    #expect(flight.primaryKey.map { flight.fields[$0].name } == ["id"])
    #expect(flight.indexes.map(\.queryField) == ["flightsByOrigin", "flightsByCarrier"])
    #expect(flight.relations.map(\.name) == ["from", "to", "airline", "plane"])
    let airport = try #require(schema.models.first { $0.name == "Airport" })
    #expect(airport.relations.map(\.kind) == [.hasMany])
    #expect(schema.operations[FieldPath("Query", "getAirport")] == .get(model: airport.number))
    #expect(schema.operations[FieldPath("Mutation", "transaction")] == .transaction)
    let field = try #require(schema.schema.subscriptionType?.field("onUpdateFlight"))
    #expect(field.arguments.map(\.name) == ["filter"])
    #expect(schema.schema.type("ModelFlightConnection") != nil)
    #expect(schema.schema.type("Airport")?.field("departures")?.arguments.count == 4)
  }

  @Test func `mistakes in directives are named with their place`() {
    let error = #expect(throws: ModelSchemaError.self) {
      try ModelSchema(
        """
        type A @model {
          id: ID!
          b: B
          tags: [String] @default(value: "x")
          bs: [A] @hasMany(indexName: "nowhere", fields: ["id"])
        }
        type B @model { id: ID! name: String @index(sortKeyFields: ["missing"]) }
        """)
    }
    let messages = error?.errors.map(\.message) ?? []
    #expect(messages.count == 4)
    #expect(messages.contains { $0.contains("A.b has the type B") })
    #expect(messages.contains { $0.contains("\"missing\"") })
    #expect(messages.contains { $0.contains("\"nowhere\"") })
    #expect(error?.errors.allSatisfy { !$0.locations.isEmpty } == true)
  }

  @Test func `many to many makes a join model`() throws {
    let schema = try ModelSchema(
      """
      type Post @model { id: ID! title: String! tags: [Tag] @manyToMany(relationName: "PostTags") }
      type Tag @model { id: ID! label: String! posts: [Post] @manyToMany(relationName: "PostTags") }
      """)
    let join = try #require(schema.models.first { $0.name == "PostTags" })
    #expect(join.fields.map(\.name).prefix(3) == ["id", "postId", "tagId"])
    #expect(schema.schema.type("Post")?.field("tags")?.arguments.count == 4)
    #expect(join.access.isEmpty)
  }
}
